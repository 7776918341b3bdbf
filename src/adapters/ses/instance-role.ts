import { fromInstanceMetadata } from "@smithy/credential-provider-imds"

import { type Credentials, CredentialsUnavailable } from "./credentials.ts"

/** One request to the metadata service, milliseconds; it is on the same host. */
const IMDS_TIMEOUT_MS = 1_000

const SILENT = { trace() {}, debug() {}, info() {}, warn() {}, error() {} }

/**
 * The instance role's credentials from the metadata service, version 2 only (Node only: it needs `node:http`).
 *
 * A provider of the SDK is made for each renewal, on purpose: one that lives on falls back to version 1 for good after one
 * refused token, and hands out expired credentials with their end moved (its "static stability"). The mailer needs the failure,
 * to fail over.
 */
export const askInstanceRole = async (endpoint: string | undefined): Promise<Credentials> => {
  if (process.env["AWS_EC2_METADATA_DISABLED"]?.toLowerCase() === "true") {
    throw new CredentialsUnavailable(
      "no keys are configured and the instance metadata service is switched off"
    )
  }
  // The SDK takes the address from the environment only. A process has one metadata service.
  if (endpoint !== undefined) process.env["AWS_EC2_METADATA_SERVICE_ENDPOINT"] = endpoint
  const provider = fromInstanceMetadata({
    timeout: IMDS_TIMEOUT_MS,
    maxRetries: 0,
    ec2MetadataV1Disabled: true,
    logger: SILENT
  })
  const credentials = await provider().catch((cause: unknown) => {
    throw new CredentialsUnavailable(
      "no keys are configured and the instance metadata service gives no credentials",
      { cause }
    )
  })
  if ("originalExpiration" in credentials) {
    throw new CredentialsUnavailable("the instance metadata service gives expired credentials")
  }
  return credentials
}
