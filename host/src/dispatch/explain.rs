//! Why each hook would be asked, or would not: the plan of a dispatch in words, without running anything.

use crate::event::{Context, Event};
use crate::hook::HookSpec;
use crate::id::{Generation, HookName};
use crate::matching::{Because, ConditionVerdict, MatcherHit};
use crate::registry::Hook;
use crate::report::Skipped;
use crate::source::Source;

use super::Dispatcher;
use super::plan::{Fit, Plan, Sight};
use super::sight::Look;

/// One hook, whether it would be asked, and which test decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explained {
    /// The hook.
    pub hook: HookName,
    /// Who brought it.
    pub source: Source,
    /// Which registration of that source.
    pub generation: Generation,
    /// Whether it would be asked.
    pub asked: bool,
    /// Which test decided.
    pub because: String,
}

impl Dispatcher {
    /// For each hook of the event, in order: whether it would be asked, and which test decided.
    pub fn explain(&self, event: &Event, cx: &Context) -> Vec<Explained> {
        let snapshot = self.registry.snapshot();
        let look = Look::new(event, &self.tools);
        let sight = look.sight(event);
        let plan = Plan::new(&snapshot, &sight, cx);
        let mut lines: Vec<Explained> = plan
            .candidates
            .iter()
            .map(|candidate| {
                let kept = match candidate.fit {
                    Fit::Kept(why) => Some(why),
                    Fit::Asked => self.kept(&candidate.hook, cx),
                    Fit::Missed(_) => None,
                };
                let asked = candidate.fit == Fit::Asked && kept.is_none();
                let because = kept.map_or_else(|| why(&candidate.hook.spec, &sight), |kept| kept.as_str().to_owned());
                Explained {
                    hook: candidate.hook.spec.name.clone(),
                    source: candidate.hook.source.clone(),
                    generation: candidate.hook.generation,
                    asked,
                    because,
                }
            })
            .collect();
        for hook in snapshot.at(&event.name).iter().filter(|hook| !hook.reach.covers(&cx.session, &cx.root_session)) {
            lines.push(Explained {
                hook: hook.spec.name.clone(),
                source: hook.source.clone(),
                generation: hook.generation,
                asked: false,
                because: "it belongs to another session".to_owned(),
            });
        }
        lines
    }

    /// What earlier dispatches of the session keep it from.
    fn kept(&self, hook: &Hook, cx: &Context) -> Option<Skipped> {
        if self.aside.holds(hook, &cx.session) {
            return Some(Skipped::SetAside);
        }
        (hook.spec.once && self.once.has_run(hook, &cx.session)).then_some(Skipped::Once)
    }
}

fn why(hook: &HookSpec, sight: &Sight<'_>) -> String {
    let class = sight.event.name.class();
    let tool = sight.call.tool();
    let matcher = match (class.matcher, hook.matcher.test(tool)) {
        (false, _) => "every hook of this event is asked".to_owned(),
        (true, None) => return format!("matcher `{}` does not fit `{tool}`", hook.matcher.text()),
        (true, Some(hit)) => matched(hook.matcher.text(), tool, hit),
    };
    match &hook.condition {
        Some(condition) if class.tool => {
            format!("{matcher}; {}", tested(condition.text(), &condition.test(&sight.call)))
        }
        _ => matcher,
    }
}

fn matched(matcher: &str, tool: &str, hit: MatcherHit) -> String {
    match hit {
        MatcherHit::Everything => "its matcher takes every tool".to_owned(),
        MatcherHit::Equal => format!("matcher `{matcher}` is `{tool}`"),
        MatcherHit::Pattern => format!("matcher `{matcher}` is found in `{tool}`"),
        MatcherHit::Alternative => format!("an alternative of matcher `{matcher}` is `{tool}`"),
        MatcherHit::PatternLimit => format!("matcher `{matcher}` took too long on `{tool}`, which counts as a match"),
    }
}

fn tested(condition: &str, verdict: &ConditionVerdict<'_>) -> String {
    let ConditionVerdict::Holds { because, .. } = verdict else { return format!("`if` {condition} does not hold") };
    match because {
        Because::Tool => format!("`if` {condition} asks for the tool alone"),
        Because::Values(text) => format!("`if` {condition} holds on all values `{text}`"),
        Because::Value(text) => format!("`if` {condition} holds on the value `{text}`"),
        Because::Command(text) => format!("`if` {condition} holds on the command `{text}`"),
        Because::Unsure(reason) => format!("`if` {condition} cannot vouch for the command: {reason}"),
        Because::Unreadable => format!("`if` {condition} cannot be read, so it holds"),
    }
}
