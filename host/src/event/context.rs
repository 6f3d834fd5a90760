//! Where and in which agent a moment happens.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;

use crate::id::{AgentId, SessionId};

/// The agent that announces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Agent {
    /// Its id.
    pub id: Option<AgentId>,
    /// What kind of agent it is.
    pub kind: Option<String>,
    /// The agent that started it.
    pub parent: Option<AgentId>,
    /// 0 in the main agent, 1 in its sub-agents, and so on.
    pub depth: u32,
}

/// Where and in which agent a moment happens.
#[derive(Clone, Debug, PartialEq)]
pub struct Context {
    /// The agent's own session.
    pub session: SessionId,
    /// The session at the root of its tree.
    pub root_session: SessionId,
    /// The turn's number.
    pub turn: u32,
    /// The folder in which the agent works; shell hooks run there. Without one, the project's.
    pub cwd: Option<PathBuf>,
    /// The agent.
    pub agent: Agent,
    /// The conversation so far, for function hooks: one value a message, in the agent's own shape.
    pub history: Arc<Vec<Value>>,
}

impl Context {
    /// The main agent's context in `session`, in no particular folder.
    pub fn new(session: impl Into<SessionId>) -> Self {
        let session = session.into();
        Self {
            root_session: session.clone(),
            session,
            turn: 0,
            cwd: None,
            agent: Agent::default(),
            history: Arc::default(),
        }
    }

    /// The same, in this folder.
    #[must_use]
    pub fn cwd(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.cwd = Some(cwd.into());
        self
    }

    /// The same, in this turn.
    #[must_use]
    pub fn turn(mut self, turn: u32) -> Self {
        self.turn = turn;
        self
    }

    /// The context of a sub-agent that runs in `session`: one deeper, under the same root.
    #[must_use]
    pub fn sub_agent(&self, session: impl Into<SessionId>, agent: impl Into<AgentId>, kind: &str) -> Self {
        Self {
            session: session.into(),
            agent: Agent {
                id: Some(agent.into()),
                kind: Some(kind.to_owned()),
                parent: self.agent.id.clone(),
                depth: self.agent.depth + 1,
            },
            ..self.clone()
        }
    }
}
