//! Requests over TLS: whose certificates are believed, and for which name.

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, date_time_ymd};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use tokio_rustls::TlsAcceptor;

use super::*;

const NOT_BELIEVED: &str = "error: TLS-certificate-error";

/// Somebody who vouches for servers.
struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    /// In PEM.
    fn pem(&self) -> String {
        self.0.pem()
    }

    /// A machine that believes it.
    fn believed(&self) -> Surroundings {
        Surroundings { authorities: self.pem().into_bytes().into(), ..Surroundings::default() }
    }

    /// A server whose certificate, from this authority, is for this name.
    async fn server(&self, name: &str, manner: Manner) -> Server {
        self.server_with(CertificateParams::new([name.to_owned()]).unwrap(), manner).await
    }

    async fn server_with(&self, params: CertificateParams, manner: Manner) -> Server {
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.0).unwrap();
        let ring = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ServerConfig::builder_with_provider(ring).with_safe_default_protocol_versions().unwrap();
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let config = builder.with_no_client_auth().with_single_cert(vec![certificate.der().clone()], key).unwrap();
        listening(TlsAcceptor::from(Arc::new(config)), manner).await
    }
}

async fn listening(acceptor: TlsAcceptor, manner: Manner) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (port, open) = (listener.local_addr().unwrap().port(), Arc::new(AtomicUsize::new(0)));
    let ((heard, requests), count) = (unbounded_channel(), Arc::clone(&open));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (acceptor, manner, heard, count) =
                (acceptor.clone(), manner.clone(), heard.clone(), Arc::clone(&count));
            count.fetch_add(1, Ordering::SeqCst);
            tokio::spawn(async move {
                if let Ok(mut stream) = acceptor.accept(stream).await {
                    converse(&mut stream, manner, &heard).await;
                }
                count.fetch_sub(1, Ordering::SeqCst);
            });
        }
    });
    Server { port, requests, open }
}

fn secured(server: &Server, host: &str) -> String {
    server.at(host).replace("http:", "https:")
}

/// What comes of a request to each URL, on a machine with these surroundings; localhost and its address are granted.
async fn came(surroundings: Surroundings, server: &Server, sends: Value) -> Vec<String> {
    let hosts = ["localhost", "127.0.0.1"].map(|host| format!("{host}:{}", server.port));
    let hosts = hosts.each_ref().map(String::as_str);
    Sender::on(surroundings, &hosts, &hosts, sends, 60.0).await.came().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_is_believed_by_its_authority_and_its_name() {
    let (ours, theirs) = (Authority::new(), Authority::new());
    let server = ours.server("localhost", Manner::fine()).await;
    let sends = to(&[&secured(&server, "localhost"), &secured(&server, "LOCALHOST."), &secured(&server, "127.0.0.1")]);
    assert_eq!(came(ours.believed(), &server, sends.clone()).await, ["200 2 ok", "200 2 ok", NOT_BELIEVED]);
    // Two of them, and words between.
    let both = format!("ours\n{}\ntheirs\n{}", ours.pem(), theirs.pem());
    let surroundings = Surroundings { authorities: both.into_bytes().into(), ..Surroundings::default() };
    assert_eq!(came(surroundings, &server, sends.clone()).await[0], "200 2 ok");
    assert_eq!(came(theirs.believed(), &server, sends).await, [NOT_BELIEVED; 3], "an unknown issuer");
    let server = ours.server("127.0.0.1", Manner::fine()).await;
    let sends = to(&[&secured(&server, "localhost"), &secured(&server, "127.0.0.1")]);
    assert_eq!(came(ours.believed(), &server, sends).await, [NOT_BELIEVED, "200 2 ok"]);
    let mut server = ours.server("elsewhere.example", Manner::fine()).await;
    let sends = to(&[&secured(&server, "localhost")]);
    assert_eq!(came(ours.believed(), &server, sends).await, [NOT_BELIEVED], "a wrong name");
    assert!(server.requests.try_recv().is_err(), "nothing is sent to who is not believed");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_expired_certificate_and_one_of_nobodys_are_not_believed() {
    let ours = Authority::new();
    let mut expired = CertificateParams::new(["localhost".to_owned()]).unwrap();
    (expired.not_before, expired.not_after) = (date_time_ymd(2001, 1, 1), date_time_ymd(2002, 1, 1));
    let server = ours.server_with(expired, Manner::fine()).await;
    assert_eq!(came(ours.believed(), &server, to(&[&secured(&server, "localhost")])).await, [NOT_BELIEVED]);
    // TLS is not left out for a server that has none, nor taken up where it was not asked for.
    let plain = Server::that(Manner::fine()).await;
    let said = came(ours.believed(), &plain, to(&[&secured(&plain, "localhost")])).await;
    assert!(said[0].starts_with("error: TLS-"), "{said:?}");
    let server = ours.server("localhost", Manner::fine()).await;
    let said = came(ours.believed(), &server, to(&[&server.at("localhost")])).await;
    assert!(said[0].starts_with("error: "), "{said:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redirect_from_tls_to_none_is_a_request_like_any_other() {
    let (ours, mut plain) = (Authority::new(), Server::that(Manner::fine()).await);
    for to in [plain.url(), plain.at("localhost")] {
        let server = ours.server("localhost", Manner::redirects(&to)).await;
        let sends =
            json!([{"url": secured(&server, "localhost")}, {"url": secured(&server, "localhost"), "follow": true}]);
        assert_eq!(came(ours.believed(), &server, sends).await, ["302 0 ", DENIED]);
    }
    assert!(plain.was_left_alone());
}

#[tokio::test(flavor = "multi_thread")]
async fn authorities_that_cannot_be_read_are_told_and_nobody_is_believed() {
    let (ours, plain) = (Authority::new(), Server::that(Manner::fine()).await);
    let server = ours.server("localhost", Manner::fine()).await;
    let cut = ours.pem().replace("-----END CERTIFICATE-----", "");
    for wrong in [cut, "no PEM at all".to_owned()] {
        let surroundings = Surroundings { authorities: wrong.into_bytes().into(), ..Surroundings::default() };
        let hosts = [format!("localhost:{}", server.port), plain.here()];
        let hosts = hosts.each_ref().map(String::as_str);
        let sends = to(&[&secured(&server, "localhost"), &plain.url()]);
        let sender = Sender::on(surroundings, &hosts, &hosts, sends, 60.0).await;
        assert!(sender.doubts.iter().any(|line| line.contains("authorities")), "{:?}", sender.doubts);
        assert_eq!(sender.came().await, ["error: internal-error", "200 2 ok"]);
    }
}
