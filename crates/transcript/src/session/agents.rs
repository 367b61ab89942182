//! Metadata of sub-agents, and the calls that started them.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use tidings_protocol::json::{Raw, Text};

use super::entry_facts::{AgentState, starts_agents};
use super::load::{Launch, LoadedEntries};
use super::tools::ToolUses;
use super::{EntryRole, Join, Lane, LaneId, NodeId};
use crate::limits::{NESTING_MAX, SIDECAR_BYTES_MAX};
use crate::open;
use crate::roots::AgentFile;

/// Links every sub-agent's lane to the call that started it.
pub(super) fn join(loaded: &LoadedEntries, tools: &ToolUses, lanes: &mut [Lane], files: &[AgentFile]) {
    let first_file = lanes.len() - files.len();
    let sidecars: Vec<Sidecar> = files.iter().map(|file| Sidecar::read(file.sidecar.as_deref())).collect();
    let nothing = Sidecar::default();
    let sidecar_of = |lane: usize| lane.checked_sub(first_file).map_or(&nothing, |file| &sidecars[file]);
    let mut joining = AgentLinker::new(loaded, tools);
    // The reliable ways first, over all lanes, so that a guess never takes a call that belongs to another
    // lane.
    for way in [Join::Sidecar, Join::Result, Join::Prompt, Join::Parent, Join::Nearest] {
        for index in 1..lanes.len() {
            let Some(agent) = &lanes[index].agent else { continue };
            if agent.started_by.is_some() {
                continue;
            }
            let found = joining.find(way, &lanes[index], sidecar_of(index));
            let Some(Start { node, tool }) = found else { continue };
            if circular(loaded, lanes, node, index) {
                continue;
            }
            joining.taken.extend(tool);
            let Some(agent) = &mut lanes[index].agent else { continue };
            agent.started_by = Some(node);
            agent.joined_by = Some(way);
            agent.tool_use_id = tool.map(|tool| tools.uses[tool].id.clone());
        }
    }
    let depths: Vec<u32> = (0..lanes.len()).map(|lane| depth(loaded, lanes, lane)).collect();
    for (index, depth) in depths.into_iter().enumerate().skip(1) {
        let is_complete = joining.is_complete(&lanes[index], sidecar_of(index));
        let sidecar = sidecar_of(index);
        let Some(agent) = &mut lanes[index].agent else { continue };
        let launch = agent.started_by.and_then(|node| joining.launch_of(node, agent.tool_use_id.as_deref()));
        let name = sidecar
            .agent_type
            .clone()
            .or_else(|| launch.and_then(|launch| Some((&**launch.agent_type.as_ref()?).into())));
        agent.name = name.unwrap_or_else(|| "unknown".into());
        agent.description =
            sidecar.description.clone().or_else(|| launch.and_then(|launch| launch.description.clone()));
        agent.tool_use_id = agent.tool_use_id.take().or_else(|| sidecar.tool_use_id.clone());
        agent.depth = depth;
        agent.is_complete = is_complete;
    }
}

/// The lanes with the entries that started them, in the order of entries.
pub(super) fn started(lanes: &[Lane]) -> Vec<(NodeId, LaneId)> {
    let numbered = (0_u32..).map(LaneId).zip(lanes);
    let mut started: Vec<(NodeId, LaneId)> =
        numbered.filter_map(|(id, lane)| Some((lane.agent.as_ref()?.started_by?, id))).collect();
    started.sort_unstable();
    started
}

/// The start of a lane: an entry, and the number of its tool call if it has one.
#[derive(Debug, Clone, Copy)]
struct Start {
    node: NodeId,
    tool: Option<usize>,
}

struct AgentLinker<'l> {
    loaded: &'l LoadedEntries,
    tools: &'l ToolUses,
    launches: HashMap<(NodeId, &'l str), &'l Launch>,
    /// Numbers of the calls that start agents, in the order of entries.
    starting: Vec<usize>,
    by_prompt: HashMap<u64, Vec<usize>>,
    by_agent: HashMap<&'l str, (usize, AgentState)>,
    taken: HashSet<usize>,
}

impl<'l> AgentLinker<'l> {
    fn new(loaded: &'l LoadedEntries, tools: &'l ToolUses) -> Self {
        let launch = |call: &'l super::load::CallNote| Some(((call.node, &*call.id), call.launch.as_ref()?));
        let launches: HashMap<(NodeId, &str), &Launch> = loaded.calls.iter().filter_map(launch).collect();
        let mut starting = Vec::new();
        let mut by_prompt: HashMap<u64, Vec<usize>> = HashMap::new();
        for (number, tool) in tools.uses.iter().enumerate() {
            let Some(call) = tool.call.filter(|_| starts_agents(&tool.name)) else { continue };
            starting.push(number);
            if let Some(hash) = launches.get(&(call, &*tool.id)).and_then(|launch| launch.prompt_hash) {
                by_prompt.entry(hash).or_default().push(number);
            }
        }
        let mut by_agent = HashMap::new();
        for answer in &loaded.answers {
            let Some((agent, running)) = &answer.agent else { continue };
            let mut answered = tools.result_numbers(answer.node);
            let of_id = |number: &usize| {
                let tool = &tools.uses[*number];
                tool.call.is_some() && Some(&*tool.id) == answer.id.as_deref()
            };
            if let Some(number) = answered.find(of_id) {
                by_agent.entry(&**agent).or_insert((number, *running));
            }
        }
        AgentLinker { loaded, tools, launches, starting, by_prompt, by_agent, taken: HashSet::new() }
    }

    fn find(&self, way: Join, lane: &Lane, sidecar: &Sidecar) -> Option<Start> {
        let agent = lane.agent.as_ref()?;
        let first = *lane.nodes.first()?;
        let own = self.loaded.nodes[first.index()].lane;
        let elsewhere = |number: &usize| {
            let call = self.tools.uses[*number].call;
            call.is_some_and(|call| self.loaded.nodes[call.index()].lane != own)
        };
        let start = |number: usize| Some(Start { node: self.tools.uses[number].call?, tool: Some(number) });
        match way {
            Join::Sidecar => {
                let id = sidecar.tool_use_id.as_deref()?;
                let called = || self.tools.numbers_of(id).filter(elsewhere);
                // If several calls have that id, each agent has its own.
                let free = called().find(|number| !self.taken.contains(number));
                free.or_else(|| called().next()).and_then(start)
            }
            Join::Result => {
                let (number, _) = *self.by_agent.get(agent.id.as_deref()?)?;
                Some(number).filter(elsewhere).and_then(start)
            }
            Join::Prompt => {
                let prompt = lane.nodes.iter().find_map(|id| self.loaded.prompts.get(id))?;
                let mut fitting = self.by_prompt.get(prompt)?.iter().copied();
                fitting.find(|number| elsewhere(number) && !self.taken.contains(number)).and_then(start)
            }
            Join::Parent => {
                let parent = self.loaded.nodes[first.index()].parent?;
                let mut calls = self.tools.call_numbers(parent);
                let free = calls.find(|number| {
                    self.starting.binary_search(number).is_ok() && !self.taken.contains(number)
                });
                // In the flat dialect the parent entry need not be a call.
                let delegates = self.loaded.nodes[parent.index()].part == EntryRole::Response;
                free.and_then(start).or(delegates.then_some(Start { node: parent, tool: None }))
            }
            Join::Nearest => {
                let begin = &self.loaded.nodes[first.index()];
                let before = |number: &&usize| {
                    let Some(call) = self.tools.uses[**number].call else { return false };
                    let node = &self.loaded.nodes[call.index()];
                    // Positions are comparable within a file only.
                    if node.file == begin.file {
                        call < first
                    } else {
                        node.at.is_some() && node.at <= begin.at
                    }
                };
                let free = |number: &&usize| !self.taken.contains(*number) && elsewhere(number);
                self.starting.iter().rev().filter(free).find(before).copied().and_then(start)
            }
        }
    }

    fn launch_of(&self, node: NodeId, tool_use_id: Option<&str>) -> Option<&'l Launch> {
        self.launches.get(&(node, tool_use_id?)).copied()
    }

    /// Returns true if an agent finished.
    fn is_complete(&self, lane: &Lane, sidecar: &Sidecar) -> bool {
        if let Some(finished) = sidecar.finished {
            return finished;
        }
        let Some(agent) = &lane.agent else { return true };
        if let Some((_, AgentState::Done)) = agent.id.as_deref().and_then(|id| self.by_agent.get(id)) {
            return true;
        }
        let speaks = |id: &&NodeId| {
            let part = self.loaded.nodes[id.index()].part;
            matches!(
                part,
                EntryRole::Response | EntryRole::ToolResult | EntryRole::Prompt | EntryRole::Interruption
            )
        };
        lane.nodes.iter().rev().find(speaks).is_some_and(|id| {
            let node = &self.loaded.nodes[id.index()];
            node.part == EntryRole::Response && !node.calls_tools()
        })
    }
}

/// Returns true if the lane of `node` was itself started from the lane `index`.
fn circular(loaded: &LoadedEntries, lanes: &[Lane], node: NodeId, index: usize) -> bool {
    let mut at = loaded.nodes[node.index()].lane;
    for _ in 0..NESTING_MAX {
        if at.index() == index {
            return true;
        }
        match started_by(lanes, at) {
            Some(node) => at = loaded.nodes[node.index()].lane,
            None => return false,
        }
    }
    true
}

fn depth(loaded: &LoadedEntries, lanes: &[Lane], lane: usize) -> u32 {
    let mut at = LaneId(u32::try_from(lane).unwrap_or(u32::MAX));
    let mut depth = 0;
    // Bounded, since nesting is.
    while at != LaneId::MAIN {
        depth += 1;
        match started_by(lanes, at) {
            Some(node) => at = loaded.nodes[node.index()].lane,
            None => break,
        }
    }
    depth
}

fn started_by(lanes: &[Lane], lane: LaneId) -> Option<NodeId> {
    lanes[lane.index()].agent.as_ref()?.started_by
}

/// The call that started the sub-agent of a file, as the sidecar `agent-<id>.meta.json` beside it says.
pub fn call_of_agent(file: &Path) -> Option<String> {
    Sidecar::read(Some(&file.with_extension("meta.json"))).tool_use_id.map(String::from)
}

/// The sidecar of a sub-agent's file.
#[derive(Debug, Default)]
struct Sidecar {
    agent_type: Option<Box<str>>,
    description: Option<Box<str>>,
    tool_use_id: Option<Box<str>>,
    finished: Option<bool>,
}

impl Sidecar {
    /// Reads a sidecar. An unreadable one is empty: the data can also come from elsewhere.
    fn read(path: Option<&Path>) -> Self {
        use std::io::Read as _;
        let mut text = String::new();
        let opened = path.and_then(|path| open::regular(path).ok());
        let read = opened.map(|file| file.take(SIDECAR_BYTES_MAX).read_to_string(&mut text));
        if !matches!(read, Some(Ok(_))) {
            return Sidecar::default();
        }
        let Ok(json) = Raw::parse(&text) else { return Sidecar::default() };
        let string = |key: &str| json.get(key).and_then(Raw::text).map(Text::get).map(|text| (&*text).into());
        Sidecar {
            agent_type: string("agentType"),
            description: string("description"),
            tool_use_id: string("toolUseId"),
            finished: json.get("finished").and_then(Raw::bool),
        }
    }
}
