//! What a cache drops: what nobody used for long, and of the rest the least recently used where it is too much. Pure.

use std::cmp::Reverse;
use std::time::{Duration, SystemTime};

use super::MOST_KEPT;

/// For how long an entry is kept that nobody uses: those of former versions go by this.
const UNUSED: Duration = Duration::from_hours(30 * 24);
/// From when on a file that is not whole was left by a host that is gone.
const LEFT: Duration = Duration::from_hours(1);

/// A file of the cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    /// Its name.
    pub(super) name: String,
    /// Its size.
    pub(super) bytes: u64,
    /// When it was last used.
    pub(super) used: SystemTime,
    /// Whether it is an entry, and not one that is being written.
    pub(super) whole: bool,
}

/// The names of those that go.
pub(super) fn superfluous(mut seen: Vec<Seen>, now: SystemTime) -> Vec<String> {
    seen.sort_by_key(|file| Reverse(file.used));
    let mut kept = 0_u64;
    let goes = seen.into_iter().filter(|file| {
        // What was used in the future was used just now.
        let age = now.duration_since(file.used).unwrap_or_default();
        if !file.whole {
            return age > LEFT;
        }
        let fits = kept.saturating_add(file.bytes) <= MOST_KEPT;
        let stays = age <= UNUSED && fits;
        kept += if stays { file.bytes } else { 0 };
        !stays
    });
    goes.map(|file| file.name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: u64 = 3600;

    fn file(name: &str, bytes: u64, hours_ago: u64, whole: bool) -> Seen {
        let used = SystemTime::UNIX_EPOCH + Duration::from_secs((10_000 - hours_ago) * HOUR);
        Seen { name: name.to_owned(), bytes, used, whole }
    }

    fn gone(seen: &[Seen]) -> Vec<String> {
        superfluous(seen.to_vec(), SystemTime::UNIX_EPOCH + Duration::from_secs(10_000 * HOUR))
    }

    #[test]
    fn what_nobody_used_for_a_month_goes() {
        assert_eq!(gone(&[file("old", 1, 721, true), file("new", 1, 719, true)]), ["old"]);
    }

    #[test]
    fn where_it_is_too_much_the_least_recently_used_go() {
        let (half, most) = (MOST_KEPT / 2, MOST_KEPT);
        let seen = [file("c", half, 3, true), file("a", half, 1, true), file("b", half, 2, true)];
        assert_eq!(gone(&seen), ["c"]);
        assert_eq!(gone(&[file("a", 1, 1, true), file("b", most, 2, true), file("c", 1, 3, true)]), ["b"]);
    }

    #[test]
    fn what_is_being_written_stays_and_what_was_left_goes() {
        assert_eq!(gone(&[file("left", 1, 2, false), file("writing", MOST_KEPT + 1, 0, false)]), ["left"]);
    }
}
