//! The stand-in at work.

use std::io::{BufRead, Write};
use std::time::Duration;

use serde_json::{Value, json};

use super::script::{AcpScript, AcpStep, AcpTurn};

/// Plays a script on these streams until the input ends. Returns the exit code.
pub fn play(
    script: AcpScript,
    input: impl BufRead,
    output: impl Write,
    errors: impl Write,
    session_id: &str,
) -> i32 {
    let used = vec![false; script.turns.len()];
    let mut agent = Agent {
        script,
        used,
        input: input.lines(),
        output,
        errors,
        session: session_id.to_owned(),
        prompt: String::new(),
        answer: Value::Null,
        requests: 0,
        is_cancelled: false,
        ignores_cancel: false,
        waiting: Vec::new(),
    };
    match agent.run() {
        Err(End::Exit(code)) => code,
        Ok(()) | Err(End::Input) => 0,
    }
}

struct Agent<I, O, E> {
    script: AcpScript,
    used: Vec<bool>,
    input: I,
    output: O,
    errors: E,
    session: String,
    prompt: String,
    answer: Value,
    requests: u64,
    is_cancelled: bool,
    ignores_cancel: bool,
    /// Requests that came in the middle of a turn.
    waiting: Vec<Value>,
}

/// The end of a run.
enum End {
    /// The input ended.
    Input,
    /// The script ends the run.
    Exit(i32),
}

type Flow<T = ()> = Result<T, End>;

impl<I: Iterator<Item = std::io::Result<String>>, O: Write, E: Write> Agent<I, O, E> {
    fn run(&mut self) -> Flow {
        loop {
            let message = if self.waiting.is_empty() { self.receive()? } else { self.waiting.remove(0) };
            self.handle(&message)?;
        }
    }

    fn receive(&mut self) -> Flow<Value> {
        loop {
            let line = self.input.next().and_then(Result::ok).ok_or(End::Input)?;
            if let Ok(message) = serde_json::from_str(&line) {
                return Ok(message);
            }
        }
    }

    fn handle(&mut self, message: &Value) -> Flow {
        let (id, params) = (&message["id"], &message["params"]);
        match message["method"].as_str().unwrap_or_default() {
            "initialize" => {
                let usual = json!({
                    "protocolVersion": 1,
                    "agentCapabilities": {
                        "loadSession": true, "sessionCapabilities": {"resume": {}, "list": {}},
                        "promptCapabilities": {"image": true, "embeddedContext": true},
                    },
                    "agentInfo": {"name": "rehearsed", "title": "Rehearsed agent", "version": "1.0.0"},
                    "authMethods": [],
                });
                let result = merged(usual, &self.script.initialize);
                self.respond(id, &result)
            }
            "session/new" => {
                if let Some(error) = self.script.refuse_session.clone() {
                    return self.send(&json!({"jsonrpc": "2.0", "id": id, "error": error}));
                }
                let result = merged(json!({"sessionId": self.session}), &self.script.session);
                if let Some(session) = result["sessionId"].as_str() {
                    session.clone_into(&mut self.session);
                }
                self.respond(id, &result)?;
                self.steps(&self.script.opening.clone())
            }
            method @ ("session/load" | "session/resume") => {
                params["sessionId"].as_str().unwrap_or_default().clone_into(&mut self.session);
                if method == "session/load" {
                    for update in self.script.history.clone() {
                        self.update(&update)?;
                    }
                }
                let mut result = self.script.session.clone();
                if let Some(result) = result.as_object_mut() {
                    result.remove("sessionId");
                }
                let result = merged(json!({}), &result);
                self.respond(id, &result)?;
                self.steps(&self.script.opening.clone())
            }
            "session/list" => {
                let page = self.list(params);
                self.respond(id, &page)
            }
            "session/prompt" => self.prompt(id, params),
            "session/set_mode" => match self.script.refuse_mode.clone() {
                Some(error) => self.send(&json!({"jsonrpc": "2.0", "id": id, "error": error})),
                None => self.respond(id, &json!({})),
            },
            "session/set_config_option" => {
                let result = self.set_option(params);
                self.send(&merged(json!({"jsonrpc": "2.0", "id": id}), &result))
            }
            "session/cancel" => {
                self.is_cancelled = true;
                Ok(())
            }
            "" => Ok(()),
            _ if id.is_null() => Ok(()),
            _ => self.respond(id, &json!({})),
        }
    }

    /// Sets an option of the script, and returns the member of the response: all options, or an error.
    fn set_option(&mut self, params: &Value) -> Value {
        let mut options = self.script.session["configOptions"].clone();
        let named = options.as_array_mut().into_iter().flatten().find(|own| own["id"] == params["configId"]);
        let Some(option) = named else {
            return json!({"error": {"code": -32602, "message": format!("No option {}", params["configId"])}});
        };
        option["currentValue"] = params["value"].clone();
        self.script.session["configOptions"] = options.clone();
        json!({"result": {"configOptions": options}})
    }

    /// The current values of the options, by their ids.
    fn option_values(&self) -> Value {
        let options = self.script.session["configOptions"].as_array().into_iter().flatten();
        let value =
            |option: &Value| Some((option["id"].as_str()?.to_owned(), option["currentValue"].clone()));
        Value::Object(options.filter_map(value).collect())
    }

    /// One page of the past sessions; the cursor is the number of those before it.
    fn list(&self, params: &Value) -> Value {
        let all = &self.script.sessions;
        let start = params["cursor"].as_str().and_then(|cursor| cursor.parse().ok()).unwrap_or(0);
        let start = all.len().min(start);
        let end = self.script.sessions_page.map_or(all.len(), |page| all.len().min(start + page));
        let mut page = json!({"sessions": all[start..end]});
        if end < all.len() {
            page["nextCursor"] = json!(end.to_string());
        }
        page
    }

    fn prompt(&mut self, id: &Value, params: &Value) -> Flow {
        let blocks = params["prompt"].as_array().into_iter().flatten();
        let texts: Vec<String> = blocks
            .map(|block| block["text"].as_str().map_or_else(|| block.to_string(), str::to_owned))
            .collect();
        self.prompt = texts.join("\n");
        (self.is_cancelled, self.ignores_cancel) = (false, false);
        let turn = self.turn();
        self.steps(&turn.steps)?;
        if self.is_cancelled && self.ignores_cancel {
            return Ok(());
        }
        if let Some(error) = &turn.error {
            self.send(&json!({"jsonrpc": "2.0", "id": id, "error": error}))?;
        } else {
            let usual = if self.is_cancelled { "cancelled" } else { "end_turn" };
            let reason = turn.stop.as_deref().filter(|_| !self.is_cancelled).unwrap_or(usual);
            self.respond(id, &json!({"stopReason": reason}))?;
        }
        self.steps(&turn.late)
    }

    /// The turn that answers the prompt.
    fn turn(&mut self) -> AcpTurn {
        let prompt = &self.prompt;
        let named = self
            .script
            .turns
            .iter()
            .position(|turn| turn.when.as_ref().is_some_and(|when| prompt.contains(when)));
        let mut unused = self.script.turns.iter().zip(&self.used);
        let chosen = named.or_else(|| unused.position(|(turn, used)| turn.when.is_none() && !used));
        let Some(chosen) = chosen else {
            let steps = vec![AcpStep::Text("The script has no turn for this prompt: {prompt}".to_owned())];
            return AcpTurn { steps, ..AcpTurn::default() };
        };
        self.used[chosen] = true;
        self.script.turns[chosen].clone()
    }

    fn steps(&mut self, steps: &[AcpStep]) -> Flow {
        for step in steps {
            self.step(step)?;
        }
        Ok(())
    }

    fn step(&mut self, step: &AcpStep) -> Flow {
        match step {
            AcpStep::Text(text) => self.chunk("agent_message_chunk", text),
            AcpStep::Thought(text) => self.chunk("agent_thought_chunk", text),
            AcpStep::Update(update) => self.update(update),
            AcpStep::Request(request) => {
                self.requests += 1;
                let id = json!(format!("agent-{}", self.requests));
                let mut params = request["params"].clone();
                if params["sessionId"].is_null() && params.is_object() {
                    params["sessionId"] = json!(self.session);
                }
                // The id of the newest terminal.
                if params["terminalId"] == "{terminal}" {
                    params["terminalId"] = self.answer["terminalId"].clone();
                }
                self.send(
                    &json!({"jsonrpc": "2.0", "id": id, "method": request["method"], "params": params}),
                )?;
                self.wait_for(&id)
            }
            AcpStep::Notify(notification) => {
                let (method, params) = (&notification["method"], &notification["params"]);
                self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}))
            }
            AcpStep::Line(line) => self.write(line),
            AcpStep::LongLine(bytes) => {
                let text = "x".repeat(*bytes);
                self.chunk("agent_message_chunk", &text)
            }
            AcpStep::Repeat(times, text) => {
                for _ in 0..*times {
                    self.chunk("agent_message_chunk", text)?;
                }
                Ok(())
            }
            AcpStep::WaitForCancel => {
                while !self.is_cancelled {
                    let message = self.receive()?;
                    match message["method"].as_str() {
                        Some("session/cancel") => self.is_cancelled = true,
                        _ => self.waiting.push(message),
                    }
                }
                Ok(())
            }
            AcpStep::IgnoreCancel => {
                self.ignores_cancel = true;
                Ok(())
            }
            AcpStep::PauseMs(ms) => {
                self.flush();
                std::thread::sleep(Duration::from_millis(*ms));
                Ok(())
            }
            AcpStep::Stderr(text) => {
                drop(writeln!(self.errors, "{text}"));
                Ok(())
            }
            AcpStep::Exit(code) => {
                self.flush();
                Err(End::Exit(*code))
            }
        }
    }

    /// Waits for the response to a request.
    fn wait_for(&mut self, id: &Value) -> Flow {
        loop {
            let message = self.receive()?;
            if message["id"] == *id && message.get("method").is_none() {
                let result = message.get("result").or_else(|| message.get("error"));
                self.answer = result.cloned().unwrap_or_default();
                return Ok(());
            }
            match message["method"].as_str() {
                Some("session/cancel") => self.is_cancelled = true,
                _ => self.waiting.push(message),
            }
        }
    }

    fn chunk(&mut self, kind: &str, text: &str) -> Flow {
        let text = text.replace("{prompt}", &self.prompt).replace("{answer}", &self.answer.to_string());
        let text = text.replace("{options}", &self.option_values().to_string());
        self.update(&json!({"sessionUpdate": kind, "content": {"type": "text", "text": text}}))
    }

    fn update(&mut self, update: &Value) -> Flow {
        let params = json!({"sessionId": self.session, "update": update});
        self.send(&json!({"jsonrpc": "2.0", "method": "session/update", "params": params}))
    }

    fn respond(&mut self, id: &Value, result: &Value) -> Flow {
        self.send(&json!({"jsonrpc": "2.0", "id": id, "result": result}))
    }

    fn send(&mut self, message: &Value) -> Flow {
        self.write(&message.to_string())
    }

    fn write(&mut self, line: &str) -> Flow {
        writeln!(self.output, "{line}").map_err(|_| End::Input)?;
        self.flush();
        Ok(())
    }

    fn flush(&mut self) {
        drop(self.output.flush());
    }
}

/// The usual members, replaced by those of the script.
fn merged(mut usual: Value, own: &Value) -> Value {
    for (key, value) in own.as_object().into_iter().flatten() {
        usual[key] = value.clone();
    }
    usual
}
