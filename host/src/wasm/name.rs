//! The names of interfaces, `package/interface@version`, taken apart.

use super::bindings::VERSION;

/// A name with a version; `wasi:io/poll@0.2.6`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct InterfaceName<'a> {
    /// `wasi:io`.
    pub(super) package: &'a str,
    /// `poll`.
    pub(super) interface: &'a str,
    /// `0.2.6`.
    pub(super) version: &'a str,
}

impl<'a> InterfaceName<'a> {
    /// Nothing for names of another shape.
    pub(super) fn parse(name: &'a str) -> Option<Self> {
        let (path, version) = name.split_once('@')?;
        let (package, interface) = path.split_once('/')?;
        Some(Self { package, interface, version })
    }

    /// Whether it names this interface, of whatever version.
    pub(super) fn is(&self, package: &str, interface: &str) -> bool {
        self.package == package && self.interface == interface
    }

    /// Whether its version is `major.minor` with any patch, and no preview of it.
    pub(super) fn is_of(&self, major: u32, minor: u32) -> bool {
        let numbers: Option<Vec<u32>> = self.version.split('.').map(|part| part.parse().ok()).collect();
        matches!(numbers.as_deref(), Some([a, b, _]) if (*a, *b) == (major, minor))
    }

    /// Whether its version is one of those that this host runs.
    pub(super) fn is_ours(&self) -> bool {
        self.is_of(VERSION[0], VERSION[1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_fits_and_a_preview_does_not() {
        let of = |name: &'static str| InterfaceName::parse(name).unwrap();
        assert!(of("tacklebox:hooks/callback@0.1.0").is_ours());
        assert!(of("tacklebox:hooks/callback@0.1.17").is_ours());
        assert!(!of("tacklebox:hooks/callback@0.2.0").is_ours());
        assert!(!of("tacklebox:hooks/callback@0.1.0-rc.1").is_ours());
        assert!(!of("tacklebox:hooks/callback@0.1").is_ours());
        assert_eq!(InterfaceName::parse("run"), None);
    }
}
