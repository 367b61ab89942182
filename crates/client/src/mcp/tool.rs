use std::fmt;
use std::sync::Arc;

use futures_core::future::BoxFuture;
use rmcp::handler::server::tool::{IntoCallToolResult, schema_for_input, schema_for_output};
use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock, JsonObject, MetaObject, ToolAnnotations};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A tool that the model can call: a name, a description, and an async function.
///
/// The function takes a struct that serde can read and schemars can describe; what does not fit it is told to the
/// model, which then tries again. It gives back a `String`, [`Structured`](super::Structured) JSON,
/// one [`ContentBlock`] such as an image, a whole [`CallToolResult`], or a `Result` of these with a [`Failure`](super::Failure),
/// which the model reads.
/// If the call is taken back, it is dropped at its next `await`.
#[derive(Clone)]
#[must_use]
pub struct Tool {
    pub(super) about: rmcp::model::Tool,
    /// Why the arguments cannot be those of a tool.
    pub(super) misfit: Option<String>,
    run: Arc<Run>,
}

type Run =
    dyn Fn(JsonObject, RequestContext<RoleServer>) -> BoxFuture<'static, Reply> + Send + Sync + 'static;
type Reply = Result<CallToolResponse, ErrorData>;

impl Tool {
    /// A tool whose arguments are a struct.
    pub fn new<A, F, R>(name: impl Into<String>, description: impl Into<String>, run: F) -> Self
    where
        A: DeserializeOwned + JsonSchema + 'static,
        F: Fn(A) -> R + Send + Sync + 'static,
        R: Future<Output: IntoCallToolResult> + Send + 'static,
    {
        Tool::with_context(name, description, move |arguments, _| run(arguments))
    }

    /// The same for a function that wants to know who calls, tell of its progress, or clean up when it is taken back.
    pub fn with_context<A, F, R>(name: impl Into<String>, description: impl Into<String>, run: F) -> Self
    where
        A: DeserializeOwned + JsonSchema + 'static,
        F: Fn(A, RequestContext<RoleServer>) -> R + Send + Sync + 'static,
        R: Future<Output: IntoCallToolResult> + Send + 'static,
    {
        let (schema, misfit) = match schema_for_input::<A>() {
            Ok(schema) => (schema, None),
            Err(misfit) => (Arc::default(), Some(misfit)),
        };
        let name = name.into();
        let called = name.clone();
        let run = move |arguments, context| -> BoxFuture<'static, Reply> {
            match serde_json::from_value::<A>(Value::Object(arguments)) {
                Ok(arguments) => {
                    let running = run(arguments, context);
                    Box::pin(async move { running.await.into_call_tool_result() })
                }
                Err(error) => {
                    let words = format!("The arguments of `{called}` do not fit: {error}");
                    Box::pin(std::future::ready(Ok(failure(words))))
                }
            }
        };
        Tool { about: rmcp::model::Tool::new(name, description.into(), schema), misfit, run: Arc::new(run) }
    }

    /// A tool whose arguments are described by a JSON Schema, and come as they are.
    pub fn with_schema<F, R>(
        name: impl Into<String>,
        description: impl Into<String>,
        schema: JsonObject,
        run: F,
    ) -> Self
    where
        F: Fn(JsonObject) -> R + Send + Sync + 'static,
        R: Future<Output: IntoCallToolResult> + Send + 'static,
    {
        let object = schema.get("type").is_some_and(|kind| kind == "object");
        let mut tool = Tool::with_context(name, description, move |arguments: JsonObject, _| run(arguments));
        tool.misfit = (!object).then(|| "the schema is not one of an object".to_owned());
        tool.about.input_schema = Arc::new(schema);
        tool
    }

    /// The name by which people know it.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.about.title = Some(title.into());
        self
    }

    /// It changes nothing.
    pub fn read_only(self) -> Self {
        self.annotate(|hints| hints.read_only(true))
    }

    /// It may destroy something.
    pub fn destructive(self) -> Self {
        self.annotate(|hints| hints.read_only(false).destructive(true))
    }

    /// It changes something, but only adds.
    pub fn additive(self) -> Self {
        self.annotate(|hints| hints.read_only(false).destructive(false))
    }

    /// A second call with the same arguments changes nothing more.
    pub fn idempotent(self) -> Self {
        self.annotate(|hints| hints.idempotent(true))
    }

    /// It reaches out to others, as a search of the web does.
    pub fn open_world(self) -> Self {
        self.annotate(|hints| hints.open_world(true))
    }

    /// It stays among things that are known, as a memory does.
    pub fn closed_world(self) -> Self {
        self.annotate(|hints| hints.open_world(false))
    }

    /// What its [structured](super::Structured) results look like.
    pub fn returns<T: JsonSchema + 'static>(mut self) -> Self {
        self.about.output_schema = Some(schema_for_output::<T>());
        self
    }

    /// The model has it from the start, rather than after a search for tools.
    pub fn always_load(self) -> Self {
        self.meta("anthropic/alwaysLoad", true)
    }

    /// Words by which a search for tools finds it.
    pub fn search_hint(self, words: impl Into<String>) -> Self {
        self.meta("anthropic/searchHint", words.into())
    }

    /// How many characters of a result the model gets; what is longer goes to a file.
    pub fn max_result_chars(self, most: usize) -> Self {
        self.meta("anthropic/maxResultSizeChars", most)
    }

    /// The turn ends when it has run.
    pub fn ends_turn(self) -> Self {
        self.meta("claude/endTurn", true)
    }

    /// Anything else that is said about it, under a key of its `_meta`.
    pub fn meta(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.about.meta.get_or_insert_with(MetaObject::new).0.insert(key.into(), value.into());
        self
    }

    /// Its name, without that of its server.
    pub fn name(&self) -> &str {
        &self.about.name
    }

    /// Runs it. Whatever goes wrong is an answer that the model reads.
    pub(super) async fn call(&self, arguments: JsonObject, context: RequestContext<RoleServer>) -> Reply {
        let taken_back = context.ct.clone();
        // Inside the future, so that a panic of the function itself is caught with the others.
        let running = async { (self.run)(arguments, context).await };
        tokio::select! {
            biased;
            () = taken_back.cancelled() => Ok(failure("The call was taken back")),
            reply = super::guard::catch(running) => {
                reply.unwrap_or_else(|_| Ok(failure(format!("The tool `{}` failed", self.name()))))
            }
        }
    }

    fn annotate(mut self, change: impl FnOnce(ToolAnnotations) -> ToolAnnotations) -> Self {
        self.about.annotations = Some(change(self.about.annotations.take().unwrap_or_default()));
        self
    }
}

/// A result that says what went wrong.
pub(super) fn failure(words: impl Into<String>) -> CallToolResponse {
    CallToolResult::error(vec![ContentBlock::text(words)]).into()
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool").field("about", &self.about).finish_non_exhaustive()
    }
}
