//! A model over HTTP for prompt hooks: Anthropic's Messages, or any server that speaks OpenAI's chat completions.
//!
//! Owns the sending, its limits, and the care for the key: it is sent to the one base URL, in a header, and is in no error
//! and no `Debug`. What is written and read is `wire`'s.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, Response, StatusCode, Url};
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt as _;

use crate::hook::LONGEST_TIMEOUT;
use crate::port::{Model, ModelError, Question};
use crate::surroundings::Surroundings;
use crate::wire::completion::{LimitField, chat_body, chat_text, error_message, messages_body, messages_text};

/// The largest answer that is read.
const LARGEST_ANSWER: usize = 1 << 20;

/// How long a connection may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

const ANTHROPIC: &str = "https://api.anthropic.com";
const OPENAI: &str = "https://api.openai.com/v1";

/// What a server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// Anthropic's Messages, at `/v1/messages` below the base URL.
    Anthropic,
    /// OpenAI's chat completions, at `/chat/completions` below the base URL, which for most servers ends in `/v1`.
    OpenAi,
}

/// Which server is asked, and how.
#[derive(Clone, PartialEq, Eq)]
pub struct Provider {
    /// What it speaks.
    pub protocol: Protocol,
    /// Where it is; without one, at Anthropic or OpenAI.
    pub base_url: Option<String>,
    /// The key that it wants; local servers want none.
    pub key: Option<String>,
    /// Which model is asked where a hook does not say; there is no default, since models come and go.
    pub model: Option<String>,
}

impl fmt::Debug for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Provider")
            .field("protocol", &self.protocol)
            .field("base_url", &self.base_url.as_ref().map(|_| ".."))
            .field("key", &self.key.as_ref().map(|_| ".."))
            .field("model", &self.model)
            .finish()
    }
}

impl Provider {
    /// The one that an environment names, if it names one: by `ANTHROPIC_API_KEY` or `ANTHROPIC_BASE_URL`, else by
    /// `OPENAI_API_KEY` or `OPENAI_BASE_URL`; `TACKLEBOX_MODEL` is the model. An empty variable counts as none.
    pub fn of(surroundings: &Surroundings) -> Option<Self> {
        let var = |wanted: &str| {
            let found = surroundings.env.iter().find(|(name, _)| name == wanted)?;
            Some(found.1.to_str()?.trim().to_owned()).filter(|value| !value.is_empty())
        };
        let model = var("TACKLEBOX_MODEL");
        [
            (Protocol::Anthropic, "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
            (Protocol::OpenAi, "OPENAI_API_KEY", "OPENAI_BASE_URL"),
        ]
        .into_iter()
        .map(|(protocol, key, base)| Self { protocol, base_url: var(base), key: var(key), model: model.clone() })
        .find(|provider| provider.key.is_some() || provider.base_url.is_some())
    }
}

/// Why a provider cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProviderError {
    /// The base URL is none.
    #[error("the model provider's base URL is not an `http` or `https` URL")]
    BaseUrl,
    /// The key holds what no header can.
    #[error("the model provider's key holds characters that cannot be sent")]
    Key,
}

/// A model over HTTP.
///
/// The defaults: 10 s for a connection, 300 s in all (a hook's own time is shorter), answers of at most 1 MiB, no
/// redirects, no proxies, no cookies, no second try. Certificates are those that the machine trusts.
pub struct HttpModel {
    /// Made when it is first needed: reading the machine's certificates takes a while.
    client: OnceLock<Result<Client, String>>,
    provider: Provider,
    url: Url,
    headers: HeaderMap,
}

impl fmt::Debug for HttpModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpModel").field("provider", &self.provider).finish_non_exhaustive()
    }
}

impl HttpModel {
    /// A model at `provider`. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// A base URL or a key that cannot be used.
    pub fn new(provider: Provider) -> Result<Self, ProviderError> {
        let (url, headers) = (url(&provider)?, headers(&provider)?);
        Ok(Self { client: OnceLock::new(), url, headers, provider })
    }

    async fn send(&self, body: Vec<u8>) -> Result<Response, ModelError> {
        let client = self.client.get_or_init(|| client(self.url.scheme() == "https")).as_ref();
        let client = client.map_err(|why| ModelError::Unusable(format!("no connections can be made: {why}")))?;
        let request = client.post(self.url.clone()).headers(self.headers.clone()).body(body);
        request.send().await.map_err(|error| match () {
            () if error.is_connect() => ModelError::Unreachable(innermost(&error)),
            () if error.is_timeout() => ModelError::TimedOut,
            () => ModelError::CutOff(innermost(&error)),
        })
    }

    /// An error with whatever the server said about it. A server may repeat the key; we do not.
    fn refused(&self, status: StatusCode, body: &[u8]) -> ModelError {
        let message = error_message(body).map(|message| match self.provider.key.as_deref() {
            Some(key) => message.replace(key, ".."),
            None => message,
        });
        ModelError::Status { status: status.as_u16(), message }
    }

    fn body(&self, question: &Question) -> Result<Vec<u8>, ModelError> {
        let model = question.model.as_deref().or(self.provider.model.as_deref()).ok_or(ModelError::NoModel)?;
        let limit = match &self.provider.base_url {
            None => LimitField::MaxCompletionTokens,
            Some(_) => LimitField::MaxTokens,
        };
        Ok(match self.provider.protocol {
            Protocol::Anthropic => messages_body(question, model),
            Protocol::OpenAi => chat_body(question, model, limit),
        })
    }
}

#[async_trait]
impl Model for HttpModel {
    async fn ask(&self, question: &Question) -> Result<String, ModelError> {
        let response = self.send(self.body(question)?).await?;
        let status = response.status();
        let body = read(response).await;
        if !status.is_success() {
            return Err(self.refused(status, &body.unwrap_or_default()));
        }
        match self.provider.protocol {
            Protocol::Anthropic => messages_text(&body?),
            Protocol::OpenAi => chat_text(&body?),
        }
    }
}

/// Reads an answer, as long as it is not too large.
async fn read(mut response: Response) -> Result<Vec<u8>, ModelError> {
    let mut body = Vec::new();
    loop {
        let chunk = response.chunk().await.map_err(|error| match error.is_timeout() {
            true => ModelError::TimedOut,
            false => ModelError::CutOff(innermost(&error)),
        })?;
        let Some(chunk) = chunk else { return Ok(body) };
        if body.len() + chunk.len() > LARGEST_ANSWER {
            return Err(ModelError::TooLarge(LARGEST_ANSWER));
        }
        body.extend_from_slice(&chunk);
    }
}

/// What went wrong at the bottom: the layers above say little, and they name the URL.
fn innermost(error: &reqwest::Error) -> String {
    let mut inner: &dyn std::error::Error = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    match std::ptr::addr_eq(inner, error) {
        true => "the request failed".to_owned(),
        false => inner.to_string(),
    }
}

fn client(secure: bool) -> Result<Client, String> {
    let client = Client::builder()
        .tls_backend_preconfigured(tls(secure).map_err(|error| error.to_string())?)
        .user_agent(concat!("tacklebox/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT_TIMEOUT)
        .timeout(LONGEST_TIMEOUT)
        .redirect(Policy::none())
        .retry(reqwest::retry::never())
        .no_proxy();
    client.build().map_err(|error| innermost(&error))
}

/// How servers prove who they are. A local server without TLS must not fail for want of the machine's certificates, so
/// then nobody is trusted.
fn tls(secure: bool) -> Result<ClientConfig, rustls::Error> {
    // Not the process's default provider: that is the embedder's to choose.
    let ring = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(ring).with_safe_default_protocol_versions()?;
    let builder = match secure {
        true => builder.with_platform_verifier()?,
        false => builder.with_root_certificates(RootCertStore::empty()),
    };
    Ok(builder.with_no_client_auth())
}

fn url(provider: &Provider) -> Result<Url, ProviderError> {
    let (default, path) = match provider.protocol {
        Protocol::Anthropic => (ANTHROPIC, "v1/messages"),
        Protocol::OpenAi => (OPENAI, "chat/completions"),
    };
    let base = provider.base_url.as_deref().unwrap_or(default);
    let mut url = Url::parse(base).map_err(|_| ProviderError::BaseUrl)?;
    if !["http", "https"].contains(&url.scheme()) {
        return Err(ProviderError::BaseUrl);
    }
    let path = format!("{}/{path}", url.path().trim_end_matches('/'));
    url.set_path(&path);
    Ok(url)
}

fn headers(provider: &Provider) -> Result<HeaderMap, ProviderError> {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if provider.protocol == Protocol::Anthropic {
        headers.insert(HeaderName::from_static("anthropic-version"), HeaderValue::from_static("2023-06-01"));
    }
    if let Some(key) = &provider.key {
        let (name, value) = match provider.protocol {
            Protocol::Anthropic => (HeaderName::from_static("x-api-key"), key.clone()),
            Protocol::OpenAi => (AUTHORIZATION, format!("Bearer {key}")),
        };
        let mut value = HeaderValue::from_str(&value).map_err(|_| ProviderError::Key)?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}

#[cfg(test)]
mod tests;
