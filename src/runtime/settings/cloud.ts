import { area, open, secret, vendor } from "./setting.ts"
import { httpUrl, installation, oneOf, region, text } from "./shapes.ts"

/** The cloud account: its region, its keys, and where its services are. */
export const cloud = area("Cloud account", {
  region: open("CLOUD_REGION", region, {
    alias: "AWS_REGION",
    fallback: "us-east-1"
  })`Region of the cloud services.`,
  installation: open("INSTALLATION", installation)`
    Name of this installation, if another one is in the same account and region. With staging, its stacks, queues, log groups, metrics
    and function are named postlane-staging.`,
  accessKeyId: secret("CLOUD_ACCESS_KEY_ID", text)`
    Access key. Unset, the first that exists: AWS_ACCESS_KEY_ID, AWS_WEB_IDENTITY_TOKEN_FILE, a profile (AWS_PROFILE), the container's
    endpoint, the instance role (IMDSv2). Embedded and unset, provider_b is simulated.`,
  secretAccessKey: secret("CLOUD_SECRET_ACCESS_KEY", text)`Secret of the access key.`,
  sessionToken: secret("CLOUD_SESSION_TOKEN", text)`Session token, needed with temporary keys.`,
  stsEndpoint: open("STS_ENDPOINT", httpUrl, vendor)`Address of AWS STS (AWS_ENDPOINT_URL is not read).`,
  imdsEndpoint: open("IMDS_ENDPOINT", httpUrl, vendor)`Address of the instance metadata service.`,
  s3Endpoint: open("S3_ENDPOINT", httpUrl, vendor)`Address of the S3 API.`,
  s3Region: open("S3_REGION", region, { otherwise: "{CLOUD_REGION}" })`Region of the buckets.`,
  s3AccessKeyId: secret("S3_ACCESS_KEY_ID", text)`
    Access key of the buckets alone, such as a compatible service's. Unset, the account's.`,
  s3SecretAccessKey: secret("S3_SECRET_ACCESS_KEY", text)`Secret of that key.`,
  s3Encryption: open("S3_SSE", oneOf(["none", "AES256", "aws:kms"]), { fallback: "none" })`
    Encryption at rest that writes ask for; none: the bucket's default. Services without a key store refuse the others.`,
  sqsEndpoint: open("SQS_ENDPOINT", httpUrl, vendor)`Address of the SQS API.`,
  bedrockEndpoint: open("BEDROCK_ENDPOINT", httpUrl, vendor)`Address of the Bedrock API (batch jobs).`,
  bedrockRuntimeEndpoint: open("BEDROCK_RUNTIME_ENDPOINT", httpUrl, vendor)`
    Address of the Bedrock runtime API.`
})
