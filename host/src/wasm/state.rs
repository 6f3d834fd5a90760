//! `state`: the door of one call to what its plugin keeps in this session.

use super::bindings::state::{Error, Host};
use super::instance::Guest;
use crate::session::{PluginState, StateError};

/// What a call may reach: nothing, while a plugin is asked to describe itself.
#[derive(Debug)]
pub(super) enum State {
    /// Nothing is there, nothing is kept.
    None,
    /// The state of this plugin in the session of the call.
    Of(PluginState),
}

impl From<StateError> for Error {
    fn from(error: StateError) -> Self {
        match error {
            StateError::TooLarge(limit) => Self::TooLarge(limit),
            StateError::Full(limit) => Self::Full(limit),
        }
    }
}

impl Host for Guest {
    fn get(&mut self, key: String) -> Option<Vec<u8>> {
        match &self.state {
            State::None => None,
            State::Of(state) => state.get(&key),
        }
    }

    fn set(&mut self, key: String, value: Vec<u8>) -> Result<(), Error> {
        match &self.state {
            State::None => Err(Error::Full(0)),
            State::Of(state) => Ok(state.set(&key, value)?),
        }
    }

    fn remove(&mut self, key: String) {
        if let State::Of(state) = &self.state {
            state.remove(&key);
        }
    }

    fn add(&mut self, key: String, delta: i64) -> Result<i64, Error> {
        match &self.state {
            State::None => Err(Error::Full(0)),
            State::Of(state) => Ok(state.add(&key, delta)?),
        }
    }
}
