import { attw } from "./attw/reference.ts"
import { backOffice } from "./back-office/reference.ts"
import { cfnLint } from "./cfn-lint/reference.ts"
import { contracts } from "./contracts/reference.ts"
import { faketime } from "./faketime/reference.ts"
import { lambdaEmulator } from "./lambda/reference.ts"
import { mailHops } from "./mail-hop/reference.ts"
import { oapiCodegen } from "./oapi-codegen/reference.ts"
import { openapiGenerator } from "./openapi-generator/reference.ts"
import { openapiPythonClient } from "./openapi-python-client/reference.ts"
import { openapiTypescript } from "./openapi-typescript/reference.ts"
import { otlp } from "./otlp/reference.ts"
import { ownTransaction } from "./own-transaction/reference.ts"
import { pgbouncer } from "./pgbouncer/reference.ts"
import { plainHttp } from "./plain-http/reference.ts"
import { porcupine } from "./porcupine/reference.ts"
import { postfix } from "./postfix/reference.ts"
import { promtool } from "./promtool/reference.ts"
import { proxies } from "./proxies/reference.ts"
import { publint } from "./publint/reference.ts"
import { pythonClient } from "./python-client/reference.ts"
import type { Reference } from "./reference.ts"
import { resendSdks } from "./resend-sdks/reference.ts"
import { schemathesis } from "./schemathesis/reference.ts"
import { smtpClients } from "./smtp-clients/reference.ts"
import { squawk } from "./squawk/reference.ts"
import { systemd } from "./systemd/reference.ts"
import { toxiproxy } from "./toxiproxy/reference.ts"
import { vnu } from "./vnu/reference.ts"
import { zizmor } from "./zizmor/reference.ts"

/** In the order in which they run: the quick ones first. */
export const references: ReadonlyArray<Reference> = [
  zizmor,
  systemd,
  promtool,
  squawk,
  otlp,
  cfnLint,
  openapiTypescript,
  ...plainHttp,
  ...ownTransaction,
  ...smtpClients,
  ...resendSdks,
  postfix,
  ...proxies,
  ...mailHops,
  pgbouncer,
  lambdaEmulator,
  ...toxiproxy,
  porcupine,
  faketime,
  ...contracts,
  oapiCodegen,
  openapiPythonClient,
  pythonClient,
  backOffice,
  publint,
  attw,
  openapiGenerator,
  vnu,
  schemathesis
]
