//! placeholder
use crate::args::DoctorFlags;
use crate::config::Config;
use crate::end::End;
pub(crate) async fn main(_flags: &DoctorFlags, _config: &Config) -> anyhow::Result<End> {
    Ok(End::Done)
}
