//! Whose certificates are believed over TLS: those of the machine, and those that an embedder gives.

use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::Verifier;
use tokio::sync::OnceCell;
use tokio_rustls::TlsConnector;

/// How the connections of one plugin are secured.
#[derive(Default)]
pub(super) struct Tls {
    authorities: Vec<CertificateDer<'static>>,
    /// Why the authorities cannot be read. Nobody is believed then, so that the mistake shows at once.
    wrong: Option<String>,
    /// Made when it is first needed: reading the machine's certificates takes a while.
    made: OnceCell<Result<TlsConnector, String>>,
}

impl Tls {
    /// Believes these authorities, in PEM, beside the machine's.
    pub(super) fn believing(authorities: &[u8]) -> Self {
        match read(authorities) {
            Ok(authorities) => Self { authorities, ..Self::default() },
            Err(why) => Self { wrong: Some(why), ..Self::default() },
        }
    }

    /// What is wrong with the authorities.
    pub(super) fn doubt(&self) -> Option<String> {
        let why = self.wrong.as_ref()?;
        Some(format!(
            "`http` is granted, and nothing is sent over TLS: the authorities of the host cannot be read: {why}"
        ))
    }

    /// What makes a connection secure, or why nothing does.
    pub(super) async fn connector(&self) -> Result<&TlsConnector, String> {
        if let Some(why) = &self.wrong {
            return Err(why.clone());
        }
        self.made.get_or_init(|| make(self.authorities.clone())).await.as_ref().map_err(Clone::clone)
    }
}

/// Each must be one that can be believed: a file of something else is a mistake that is better told.
fn read(authorities: &[u8]) -> Result<Vec<CertificateDer<'static>>, String> {
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(authorities).collect();
    let all = all.map_err(|error| error.to_string())?;
    if all.is_empty() && !authorities.trim_ascii().is_empty() {
        return Err("there is no certificate in them".to_owned());
    }
    let mut store = RootCertStore::empty();
    all.iter().try_for_each(|one| store.add(one.clone())).map_err(|error| error.to_string())?;
    Ok(all)
}

async fn make(authorities: Vec<CertificateDer<'static>>) -> Result<TlsConnector, String> {
    let made = tokio::task::spawn_blocking(|| {
        // Not the process's default provider: that is the embedder's to choose.
        let ring = Arc::new(rustls::crypto::ring::default_provider());
        let verifier = Verifier::new_with_extra_roots(authorities, Arc::clone(&ring))?;
        let builder = ClientConfig::builder_with_provider(ring).with_safe_default_protocol_versions()?;
        let builder = builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier));
        Ok::<_, rustls::Error>(builder.with_no_client_auth())
    });
    let config = made.await.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
    Ok(TlsConnector::from(Arc::new(config)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_certificate_is_told_and_nobody_is_believed_for_it() {
        let empty = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        for wrong in ["no PEM", "-----BEGIN CERTIFICATE-----\nAAAA\n", empty] {
            assert!(Tls::believing(wrong.as_bytes()).doubt().is_some(), "{wrong}");
        }
        for none in ["", " \n"] {
            assert_eq!(Tls::believing(none.as_bytes()).doubt(), None);
        }
    }

    #[tokio::test]
    async fn whoever_gives_authorities_that_cannot_be_read_gets_no_connection() {
        assert!(Tls::believing(b"no PEM").connector().await.is_err());
    }
}
