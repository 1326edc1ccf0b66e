//! A handler around the real one: it has what the suite's scenarios look for, and leaves everything else to the real.
//!
//! Only what is asked of it by a name that begins with `test` is its own. What a server says of itself, versions, `_meta`,
//! lists, paging and errors are the real handler's and the transport's; capabilities that Pinhole has no use for (prompts,
//! resources, logging) are added here, because the suite wants them.

use std::collections::BTreeSet;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, CompleteRequestParams,
    CompleteResult, DiscoverResult, ElicitRequestParams, ErrorData, GetPromptRequestParams,
    GetPromptResponse, GetPromptResult, InputRequests, InputRequiredResult, InputResponses, JsonObject,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ProgressNotificationParam, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, RequestStateCodec, SealOptions, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::data;

#[derive(Clone)]
pub(crate) struct Fixture<S> {
    real: S,
    states: RequestStateCodec,
}

type Context = RequestContext<RoleServer>;

impl<S: ServerHandler + Clone> Fixture<S> {
    pub(crate) fn around(real: S) -> Self {
        let key: [u8; 32] = rand::random();
        Self { real, states: RequestStateCodec::try_new(key.to_vec()).expect("a key long enough") }
    }

    /// Whether it is the fixture's and not the real handler's.
    fn has(name: &str) -> bool {
        data::OTHERS.contains(&name) || data::results().iter().any(|(tool, _)| *tool == name)
    }

    fn info(mut info: ServerConfig) -> ServerConfig {
        let more = json!({"prompts": {}, "resources": {}, "completions": {}, "logging": {}});
        let mut has = serde_json::to_value(&info.capabilities).expect("capabilities");
        has.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        info.capabilities = read(has);
        info
    }

    /// The questions of a round, of which these keys wait for an answer; `None` once all are answered.
    fn round(
        &self,
        name: &str,
        answers: Option<&InputResponses>,
        state: Option<&str>,
        can: &ClientCapabilities,
    ) -> Result<Option<InputRequiredResult>, ErrorData> {
        let wrong = |_| {
            ErrorData::invalid_params("the request state is not one of this server's for this request", None)
        };
        let stated =
            state.map(|state| self.states.open_with(state, name.as_bytes())).transpose().map_err(wrong)?;
        let keys: &[&str] = match name {
            "test_input_required_result_elicitation" | "test_streaming_elicitation" => &["user_name"],
            "test_input_required_result_sampling" => &["capital_question"],
            "test_input_required_result_list_roots" => &["client_roots"],
            "test_input_required_result_request_state" | "test_input_required_result_tampered_state" => {
                &["confirm"]
            }
            "test_input_required_result_multiple_inputs" => &["user_name", "greeting", "client_roots"],
            "test_input_required_result_multi_round" if stated.as_deref() == Some(b"step1") => &["step2"],
            "test_input_required_result_multi_round" if stated.as_deref() != Some(b"step2") => &["step1"],
            "test_input_required_result_capabilities" => &["user_name", "greeting"],
            "test_input_required_result_prompt" => &["user_context"],
            _ => &[],
        };
        let answered = |key: &str| answers.and_then(|answers| answers.get(key)).is_some_and(Value::is_object);
        let again =
            name == "test_input_required_result_multi_round" && keys == ["step1"] && answered("step1");
        let keys = if again { &["step2"][..] } else { keys };
        if keys.is_empty() || keys.iter().all(|key| answered(key)) {
            return Ok(None);
        }
        let asked = keys.iter().filter(|key| may_ask(can, key));
        let requests: InputRequests =
            asked.map(|key| ((*key).to_owned(), read(data::question(key)))).collect();
        let next = if keys == ["step2"] { "step2" } else { keys[0] };
        let sealed =
            self.states.seal_with(next.as_bytes(), &SealOptions::new().associated_data(name.as_bytes()));
        Ok(Some(InputRequiredResult::new(Some(requests), Some(sealed))))
    }

    async fn call(
        &self,
        request: CallToolRequestParams,
        context: Context,
    ) -> Result<CallToolResponse, ErrorData> {
        let name = request.name.as_ref();
        if let Some((_, result)) = data::results().into_iter().find(|(tool, _)| *tool == name) {
            return Ok(self::result::<CallToolResult>(result).into());
        }
        let arguments = request.arguments.unwrap_or_default();
        match name {
            "test_tool_with_progress" => progress(&context).await,
            "test_tool_with_logging" => log(&context).await,
            "test_missing_capability" => {
                let declared = context.client_capabilities().is_some_and(|can| can.sampling.is_some());
                if !declared {
                    let required: ClientCapabilities = read(json!({"sampling": {}}));
                    return Err(ErrorData::missing_required_client_capability(required));
                }
                Ok(text("It was declared."))
            }
            // Whoever did not say that it can be asked might never answer.
            "test_sampling" if context.client_capabilities().is_none_or(|can| can.sampling.is_none()) => {
                Err(ErrorData::invalid_request("the client cannot be asked for samples", None))
            }
            "test_elicitation" | "test_elicitation_sep1034_defaults" | "test_elicitation_sep1330_enums"
                if context.client_capabilities().is_none_or(|can| can.elicitation.is_none()) =>
            {
                Err(ErrorData::invalid_request("the client cannot be asked", None))
            }
            "test_sampling" => sample(&arguments, &context).await,
            "test_elicitation" | "test_elicitation_sep1034_defaults" | "test_elicitation_sep1330_enums" => {
                elicit(name, &arguments, &context).await
            }
            _ => {
                let can = context.client_capabilities().unwrap_or_default();
                let round = self.round(
                    name,
                    request.input_responses.as_ref(),
                    request.request_state.as_deref(),
                    &can,
                )?;
                let answers = json!(request.input_responses).to_string();
                Ok(round.map_or_else(|| text(&format!("state-ok: {answers}")), Into::into))
            }
        }
    }
}

/// What the suite's words mean to `rmcp`.
fn read<T: DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).expect("a message")
}

/// The same for what ends a request; `rmcp` leaves the word out where an older version has none.
fn result<T: DeserializeOwned>(mut value: Value) -> T {
    value["resultType"] = json!("complete");
    read(value)
}

fn text(text: &str) -> CallToolResponse {
    result::<CallToolResult>(json!({"content": [{"type": "text", "text": text}]})).into()
}

/// Whether a client said that it can be asked this.
fn may_ask(can: &ClientCapabilities, key: &str) -> bool {
    match data::question(key)["method"].as_str() {
        Some("elicitation/create") => can.elicitation.is_some(),
        Some("sampling/createMessage") => can.sampling.is_some(),
        _ => can.roots.is_some(),
    }
}

async fn progress(context: &Context) -> Result<CallToolResponse, ErrorData> {
    if let Some(token) = context.meta.get_progress_token() {
        for done in [0.0, 50.0, 100.0] {
            let told = ProgressNotificationParam::new(token.clone(), done).with_total(100.0);
            context.peer.notify_progress(told).await.map_err(gone)?;
        }
    }
    Ok(text("Progress test completed"))
}

#[expect(deprecated, reason = "the versions before 2026-07-28 have it")]
async fn log(context: &Context) -> Result<CallToolResponse, ErrorData> {
    for said in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
        let said = read(json!({"level": "info", "logger": "fixture", "data": said}));
        context.peer.notify_logging_message(said).await.map_err(gone)?;
    }
    Ok(text("Logging test completed"))
}

#[expect(deprecated, reason = "the versions before 2026-07-28 have it")]
async fn sample(arguments: &JsonObject, context: &Context) -> Result<CallToolResponse, ErrorData> {
    let message = json!({"role": "user", "content": {"type": "text", "text": arguments.get("prompt")}});
    let asked = read(json!({"messages": [message], "maxTokens": 100}));
    let answer = context.peer.create_message(asked).await.map_err(gone)?;
    Ok(text(&format!("LLM response: {}", json!(answer.message.content))))
}

async fn elicit(
    tool: &str,
    arguments: &JsonObject,
    context: &Context,
) -> Result<CallToolResponse, ErrorData> {
    let message = arguments.get("message").and_then(Value::as_str).unwrap_or("Please fill this in");
    let schema = json!({"type": "object", "properties": data::form(tool), "required": []});
    let asked: ElicitRequestParams =
        read(json!({"mode": "form", "message": message, "requestedSchema": schema}));
    let answer = context.peer.create_elicitation(asked).await.map_err(gone)?;
    Ok(text(&format!("User response: {}", json!(answer))))
}

fn gone(error: impl std::fmt::Display) -> ErrorData {
    ErrorData::internal_error(format!("the client could not be told or asked: {error}"), None)
}

impl<S: ServerHandler + Clone> ServerHandler for Fixture<S> {
    fn get_info(&self) -> ServerConfig {
        Self::info(self.real.get_info())
    }

    async fn discover(&self, context: Context) -> Result<DiscoverResult, ErrorData> {
        let mut result = self.real.discover(context).await?;
        result.capabilities = self.get_info().capabilities;
        Ok(result)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListToolsResult, ErrorData> {
        let first = request.as_ref().is_none_or(|request| request.cursor.is_none());
        let mut result = self.real.list_tools(request, context).await?;
        if first {
            let names: BTreeSet<&str> =
                data::results().iter().map(|(name, _)| *name).chain(data::OTHERS).collect();
            let ours = names.into_iter().map(|name| read::<Tool>(data::tool(name)));
            result.tools = ours.chain(result.tools).collect();
        }
        Ok(result)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: Context,
    ) -> Result<CallToolResponse, ErrorData> {
        if Self::has(&request.name) {
            self.call(request, context).await
        } else {
            self.real.call_tool(request, context).await
        }
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: Context,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(result(json!({"prompts": data::prompts()})))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: Context,
    ) -> Result<GetPromptResponse, ErrorData> {
        let can = context.client_capabilities().unwrap_or_default();
        let (answers, state) = (request.input_responses.as_ref(), request.request_state.as_deref());
        if let Some(round) = self.round(&request.name, answers, state, &can)? {
            return Ok(round.into());
        }
        let arguments = json!(request.arguments);
        let argument = |name: &str| arguments[name].as_str().unwrap_or_default().to_owned();
        let prompt = data::messages(&request.name, argument);
        let prompt = prompt.ok_or_else(|| ErrorData::invalid_params("there is no such prompt", None))?;
        Ok(result::<GetPromptResult>(prompt).into())
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(result(json!({"resources": data::resources()})))
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: Context,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(result(json!({"resourceTemplates": data::templates()})))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let not_found =
            || ErrorData::resource_not_found("there is no such resource", Some(json!({"uri": request.uri})));
        let found = data::contents(&request.uri).ok_or_else(not_found)?;
        Ok(result::<ReadResourceResult>(found).into())
    }

    async fn complete(
        &self,
        _request: CompleteRequestParams,
        _context: Context,
    ) -> Result<CompleteResult, ErrorData> {
        Ok(result(
            json!({"completion": {"values": ["paris", "park", "party"], "total": 3, "hasMore": false}}),
        ))
    }

    #[expect(deprecated, reason = "the versions before 2026-07-28 have it")]
    async fn set_level(
        &self,
        _request: rmcp::model::SetLevelRequestParams,
        _context: Context,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn subscribe(
        &self,
        _request: rmcp::model::SubscribeRequestParams,
        _context: Context,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn unsubscribe(
        &self,
        _request: rmcp::model::UnsubscribeRequestParams,
        _context: Context,
    ) -> Result<(), ErrorData> {
        Ok(())
    }
}
