//! `config`: what the hook's registration says to its plugin.

use super::bindings::config::Host;
use super::instance::Guest;

impl Host for Guest {
    fn get(&mut self) -> String {
        self.config.clone()
    }
}
