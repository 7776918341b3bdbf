import type { Schema } from "effect"
import { HttpApi, OpenApi } from "effect/http-api"

import { API_NAME } from "../server/endpoint.ts"
import { AnyProblem, ProblemCode } from "../server/problem.ts"
import { AccountGroup } from "./accounts/account.ts"
import { AdminsGroup } from "./accounts/admins.ts"
import { AuditLogGroup } from "./accounts/audit-log.ts"
import { AuthGroup } from "./accounts/auth.ts"
import { ContactMessageGroup } from "./accounts/contact-messages.ts"
import { CustomerGroup } from "./accounts/customers.ts"
import { FormGroup } from "./accounts/forms.ts"
import { PromoGroup } from "./accounts/promo.ts"
import { ReceiptGroup } from "./accounts/receipts.ts"
import { InvitePageGroup, TeamGroup } from "./accounts/team.ts"
import { cleanDocument } from "./clean-document.ts"
import { AdminJobGroup } from "./conversion/admin-jobs.ts"
import { BulkGroup } from "./conversion/bulk.ts"
import { FileGroup } from "./conversion/files.ts"
import { FlyerGroup } from "./conversion/flyers.ts"
import { JobGroup } from "./conversion/jobs.ts"
import { ResultPagesGroup } from "./conversion/result-pages.ts"
import { ResultsArchiveGroup } from "./conversion/results-archive.ts"
import { SharedGroup, SharingGroup } from "./conversion/sharing.ts"
import { AdminGroup } from "./delivery/admin.ts"
import { AlertGroup, NotificationGroup } from "./delivery/alerts.ts"
import { DigestGroup } from "./delivery/digest.ts"
import { EventPollGroup } from "./delivery/event-poll.ts"
import { StatsGroup } from "./delivery/stats.ts"
import { EventBusGroup, WebhookGroup } from "./delivery/webhooks.ts"
import { DevMessageGroup } from "./dev-messages.ts"
import { DevTemplateGroup } from "./dev-templates.ts"
import { DevGroup } from "./dev.ts"
import { HealthGroup } from "./health.ts"
import { ConvertEmailGroup, ConvertEmailTestGroup, MailResultsGroup } from "./inbound/convert-email.ts"
import { IncomingMailGroup, OwnMailGroup } from "./inbound/incoming-mails.ts"
import { PipelineGroup } from "./inbound/pipeline.ts"
import { RelayGroup } from "./mail/relay.ts"
import { SendsGroup } from "./mail/sends.ts"
import { SuppressionGroup } from "./mail/suppressions.ts"
import { OutreachGroup } from "./outreach/outreach.ts"
import { UnsubscribeGroup } from "./outreach/unsubscribe.ts"

/** The API of every Postlane. A new group is added here, its handlers in `../http-layer.ts`. */
export class Api extends HttpApi.make(API_NAME)
  .add(RelayGroup)
  .add(SendsGroup)
  .add(ReceiptGroup)
  .add(HealthGroup)
  .add(AdminGroup)
  .add(AuditLogGroup)
  .add(ContactMessageGroup)
  .add(AlertGroup)
  .add(NotificationGroup)
  .add(SuppressionGroup)
  .add(StatsGroup)
  .add(WebhookGroup)
  .add(EventPollGroup)
  .add(PromoGroup)
  .add(AuthGroup)
  .add(FormGroup)
  .add(TeamGroup)
  .add(InvitePageGroup)
  .add(AccountGroup)
  .add(DigestGroup)
  .add(OutreachGroup)
  .add(UnsubscribeGroup)
  .add(EventBusGroup)
  .add(ConvertEmailGroup)
  .add(ConvertEmailTestGroup)
  .add(MailResultsGroup)
  .add(OwnMailGroup)
  .add(IncomingMailGroup)
  .add(PipelineGroup)
  .add(FileGroup)
  .add(FlyerGroup)
  .add(JobGroup)
  .add(BulkGroup)
  .add(SharingGroup)
  .add(SharedGroup)
  .add(CustomerGroup)
  .add(AdminsGroup)
  .add(ResultPagesGroup)
  .add(AdminJobGroup)
  .add(ResultsArchiveGroup) {}

/** What an embedded one serves in addition. */
export class DevApi extends HttpApi.make(API_NAME).add(DevGroup).add(DevTemplateGroup).add(DevMessageGroup) {}

/** The whole API, as in the OpenAPI document. */
export class DocumentedApi extends HttpApi.make("postlane-documented")
  .addHttpApi(Api)
  .addHttpApi(DevApi)
  .annotate(HttpApi.AdditionalSchemas, [AnyProblem, ProblemCode])
  .annotateMerge(
    OpenApi.annotations({
      title: "Postlane",
      version: "0.1.0",
      license: { name: "MIT", identifier: "MIT" },
      servers: [{ url: "/", description: "The Postlane that serves this document" }],
      description:
        "Outbound mail that is never sent twice. Every answer outside 2xx is a problem document (RFC 9457) whose `code` " +
        "is one of `ProblemCode`; `retryable` says whether the same request may be sent again."
    })
  ) {}

type Document = Readonly<Record<string, Schema.Json>>

/** The document that the definition gives. This package's client is generated from it; its methods have the names of the groups. */
export const definedDocument = (): Document =>
  JSON.parse(JSON.stringify(OpenApi.fromApi(DocumentedApi))) as Document

let document: Document | undefined

/** The OpenAPI 3.1 document of the whole API, as served; made once. */
export const openApiDocument = (): Document => (document ??= cleanDocument(definedDocument()))

/** The document as `public/openapi.json` holds it. */
export const openApiText = (): string => `${JSON.stringify(openApiDocument(), undefined, 2)}\n`
