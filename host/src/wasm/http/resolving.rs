//! Who knows the addresses of a name.

#[cfg(test)]
use std::net::IpAddr;
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::sync::Arc;

use tokio::sync::Semaphore;

/// How many names may be looked up at a time for one plugin. A look-up is a thread that no deadline frees, and whoever answers
/// for a name may be silent.
const MOST_LOOKUPS: usize = 8;

/// Names and their addresses, for tests.
#[cfg(test)]
pub(super) type Table = dyn Fn(&str) -> Vec<IpAddr> + Send + Sync;

/// Who knows the addresses of a name.
#[derive(Clone)]
pub(super) enum Resolver {
    /// The machine, asked so often at a time.
    Machine(Arc<Semaphore>),
    /// A table.
    #[cfg(test)]
    Table(Arc<Table>),
}

impl Default for Resolver {
    fn default() -> Self {
        Self::Machine(Arc::new(Semaphore::new(MOST_LOOKUPS)))
    }
}

impl Resolver {
    pub(super) async fn look_up(&self, name: &str, port: u16) -> std::io::Result<Vec<SocketAddr>> {
        match self {
            Self::Machine(turns) => {
                let name = name.to_owned();
                in_turn(turns, move || Ok((name.as_str(), port).to_socket_addrs()?.collect())).await
            }
            #[cfg(test)]
            Self::Table(table) => Ok(table(name).into_iter().map(|ip| SocketAddr::new(ip, port)).collect()),
        }
    }
}

/// On a thread that may block. Who is dropped meanwhile leaves the thread its turn until it is done.
async fn in_turn<T: Send + 'static>(
    turns: &Arc<Semaphore>,
    work: impl FnOnce() -> std::io::Result<T> + Send + 'static,
) -> std::io::Result<T> {
    let turn = Arc::clone(turns).acquire_owned().await.map_err(std::io::Error::other)?;
    let done = tokio::task::spawn_blocking(move || {
        let _turn = turn;
        work()
    });
    done.await.map_err(std::io::Error::other)?
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn a_look_up_that_nobody_waits_for_any_more_keeps_its_turn_until_it_is_done() {
        let turns = Arc::new(Semaphore::new(1));
        let (answer, answers) = mpsc::channel::<()>();
        let silent = in_turn(&turns, move || answers.recv().map_err(std::io::Error::other));
        assert!(tokio::time::timeout(Duration::from_millis(20), silent).await.is_err());
        assert_eq!(turns.available_permits(), 0);
        let next = tokio::spawn({
            let turns = Arc::clone(&turns);
            async move { in_turn(&turns, || Ok(7)).await }
        });
        answer.send(()).unwrap();
        assert_eq!(next.await.unwrap().unwrap(), 7);
    }
}
