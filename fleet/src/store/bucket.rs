//! Tables in a bucket: S3, Google Cloud Storage or Azure. Credentials and endpoints come from the usual environment variables.
//!
//! An object appears when its upload is complete; what broke off is not readable. Files are written in a local folder, below
//! TMPDIR, and uploaded from there.

use std::fs::{self, DirBuilder, File};
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::path::Path as Key;
use object_store::{
    Error, GetOptions, ListResult, MultipartUpload, ObjectStore, ObjectStoreExt as _, PutMode,
    Result as Done, RetryConfig,
};

use super::client::{Client, reason};
use super::lease::Leases;
use super::{Lock, Meanwhile, Place, failed};

/// How much is sent and fetched at a time, and the largest file that is sent as one; S3 takes no smaller parts than 5 MiB.
const PART: u64 = 8 << 20;

/// How long to try again while the server is busy or cannot be reached.
const PERSISTENCE: Duration = Duration::from_secs(20);

/// A bucket with a prefix.
pub struct Bucket {
    client: Arc<Client>,
    leases: Leases,
    staging: PathBuf,
}

impl Bucket {
    /// Opens a bucket: `s3://BUCKET/PREFIX`.
    pub fn open(name: &str) -> Result<Bucket, String> {
        let prefix = name.trim_end_matches('/').splitn(4, '/').nth(3).unwrap_or_default().to_owned();
        let wrong = |error: &dyn std::fmt::Display| format!("{name}: {error}");
        Key::parse(&prefix).map_err(|error| wrong(&error))?;
        if name.split('/').nth(2).is_none_or(str::is_empty) {
            return Err(wrong(&"name a bucket, e.g. s3://bucket/tables"));
        }
        // Who has another provider already may keep it.
        _ = rustls::crypto::ring::default_provider().install_default();
        let retry = RetryConfig { retry_timeout: PERSISTENCE, ..RetryConfig::default() };
        let store: Done<Box<dyn ObjectStore>> = match name.split("://").next() {
            Some("s3" | "s3a") => {
                let builder = AmazonS3Builder::from_env().with_url(name).with_retry(retry);
                if let Some(endpoint) = builder.get_config_value(&AmazonS3ConfigKey::Endpoint)
                    && reqwest::Url::parse(&endpoint).map_or(true, |url| !url.has_host())
                {
                    return Err(wrong(&format!(
                        "AWS_ENDPOINT_URL: {endpoint}: write a URL, e.g. https://host:9000"
                    )));
                }
                builder.build().map(|store| Box::new(store) as _)
            }
            Some("gs") => {
                let builder = GoogleCloudStorageBuilder::from_env().with_url(name).with_retry(retry);
                builder.build().map(|store| Box::new(store) as _)
            }
            _ => {
                let builder = MicrosoftAzureBuilder::from_env().with_url(name).with_retry(retry);
                builder.build().map(|store| Box::new(store) as _)
            }
        };
        let store = store.map_err(|error| wrong(&reason(&error)))?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| wrong(&error))?;
        let name = name.trim_end_matches('/').to_owned();
        let staging = private_folder()?.join(name.replace('/', "%2F"));
        let client = Arc::new(Client::new(name, prefix, store, runtime));
        Ok(Bucket { leases: Leases::new(&client), client, staging })
    }

    fn list(&self, folder: &str) -> Result<ListResult, String> {
        let key = self.client.key(folder)?;
        self.client.run(folder, "list", self.client.store().list_with_delimiter(Some(&key)))
    }

    fn write(&self, path: &str, bytes: &[u8], mode: PutMode) -> Result<bool, String> {
        let (key, bytes) = (self.client.key(path)?, bytes.to_vec());
        self.client.run(path, "write", async {
            match self.client.store().put_opts(&key, bytes.into(), mode.into()).await {
                Err(Error::AlreadyExists { .. }) => Ok(false),
                done => done.map(|_| true),
            }
        })
    }
}

impl Place for Bucket {
    fn create(&self) -> Result<(), String> {
        Ok(())
    }

    fn get(&self, path: &str) -> Result<Option<Vec<u8>>, String> {
        let key = self.client.key(path)?;
        self.client.run(path, "read", async {
            match self.client.store().get(&key).await {
                Err(Error::NotFound { .. }) => Ok(None),
                got => Ok(Some(got?.bytes().await?.to_vec())),
            }
        })
    }

    fn put(&self, path: &str, bytes: &[u8]) -> Result<(), String> {
        self.write(path, bytes, PutMode::Overwrite).map(|_| ())
    }

    fn put_new(&self, path: &str, bytes: &[u8]) -> Result<bool, String> {
        self.write(path, bytes, PutMode::Create)
    }

    fn publish(&self, complete: &Path, path: &str) -> Result<(), String> {
        let unreadable = |error| failed(complete, "read", &error);
        let mut file = File::open(complete).map_err(unreadable)?;
        if file.metadata().map_err(unreadable)?.len() <= PART {
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes).map_err(unreadable)?;
            self.put(path, &bytes)?;
        } else {
            let key = self.client.key(path)?;
            self.client.run(path, "upload", async {
                let mut upload = self.client.store().put_multipart(&key).await?;
                let sent = send(&mut *upload, &mut file).await;
                if sent.is_err() {
                    // Nobody can read the parts, but they cost money.
                    _ = upload.abort().await;
                }
                sent
            })?;
        }
        fs::remove_file(complete).map_err(|error| failed(complete, "remove", &error))
    }

    fn local(&self, path: &str, staging: &Path) -> Result<PathBuf, String> {
        let copy = staging.join(path.replace('/', "%2F"));
        let key = self.client.key(path)?;
        self.client.run(path, "fetch", async {
            let mut file = File::create(&copy).map_err(local_error)?;
            let (mut at, mut size) = (0, u64::MAX);
            while at < size {
                let range = Some((at..at + PART).into());
                let got =
                    self.client.store().get_opts(&key, GetOptions { range, ..GetOptions::default() }).await?;
                size = got.meta.size;
                let bytes = got.bytes().await?;
                file.write_all(&bytes).map_err(local_error)?;
                at += PART;
            }
            Ok(())
        })?;
        Ok(copy)
    }

    fn has(&self, path: &str) -> Result<bool, String> {
        let key = self.client.key(path)?;
        self.client.run(path, "find", async {
            match self.client.store().head(&key).await {
                Err(Error::NotFound { .. }) => Ok(false),
                found => found.map(|_| true),
            }
        })
    }

    fn names(&self, folder: &str) -> Result<Vec<String>, String> {
        let found = self.list(folder)?;
        let files = found.objects.iter().map(|object| &object.location);
        let keys = files.chain(&found.common_prefixes);
        let mut names: Vec<String> = keys.filter_map(|key| Some(key.filename()?.to_owned())).collect();
        names.sort();
        Ok(names)
    }

    fn remove_all(&self, paths: &[String]) -> Result<(), String> {
        let keys: Vec<Done<Key>> =
            paths.iter().map(|path| self.client.key(path).map(Ok)).collect::<Result<_, _>>()?;
        let Some(first) = paths.first() else { return Ok(()) };
        self.client.run(first, "remove", async {
            let mut removed = self.client.store().delete_stream(stream::iter(keys).boxed());
            loop {
                match removed.try_next().await {
                    Ok(None) => return Ok(()),
                    Ok(Some(_)) | Err(Error::NotFound { .. }) => {}
                    Err(error) => return Err(error),
                }
            }
        })
    }

    fn remove_folder(&self, folder: &str) -> Result<(), String> {
        let found = self.list(folder)?;
        let path = |key: &Key| format!("{folder}/{}", key.filename().unwrap_or_default());
        found.common_prefixes.iter().try_for_each(|key| self.remove_folder(&path(key)))?;
        self.remove_all(&found.objects.iter().map(|object| path(&object.location)).collect::<Vec<_>>())
    }

    fn staging(&self, name: &str) -> Result<PathBuf, String> {
        let folder = self.staging.join(name);
        fs::create_dir_all(&folder).map_err(|error| failed(&folder, "create", &error))?;
        Ok(folder)
    }

    fn lock(&self, name: &str, meanwhile: Meanwhile<'_>) -> Result<Box<dyn Lock>, String> {
        Ok(Box::new(self.leases.take(&format!("_ltt/{name}"), meanwhile)?))
    }

    fn trouble(&self) -> Option<String> {
        self.client.trouble()
    }
}

/// Sends a file in parts.
async fn send(upload: &mut dyn MultipartUpload, file: &mut File) -> Done<()> {
    loop {
        let mut part = Vec::new();
        file.take(PART).read_to_end(&mut part).map_err(local_error)?;
        if part.is_empty() {
            return upload.complete().await.map(|_| ());
        }
        upload.put_part(part.into()).await?;
    }
}

fn local_error(error: std::io::Error) -> Error {
    Error::Generic { store: "local file", source: Box::new(error) }
}

/// A folder for files that are not complete yet, which other users cannot read or replace.
fn private_folder() -> Result<PathBuf, String> {
    let user =
        fs::metadata("/proc/self").map_err(|error| failed("/proc/self".as_ref(), "read", &error))?.uid();
    let folder = std::env::temp_dir().join(format!("ltt-parquet-{user}"));
    match DirBuilder::new().mode(0o700).create(&folder) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            return Err(failed(&folder, "create", &error));
        }
        _ => {}
    }
    let found = folder.symlink_metadata().map_err(|error| failed(&folder, "read", &error))?;
    if !found.is_dir() || found.uid() != user || found.mode() & 0o077 != 0 {
        return Err(format!("{}: it belongs to others: set TMPDIR to another folder", folder.display()));
    }
    Ok(folder)
}
