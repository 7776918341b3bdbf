import { Layer, type Schema } from "effect"
import { HttpApi, OpenApi } from "effect/http-api"

import { ResultDocument } from "../../../reader/model/result-block.ts"
import type { PublicAddresses } from "../server/credentials.ts"
import { API_NAME } from "../server/endpoint.ts"
import { AnyProblem, ProblemCode } from "../server/problem.ts"
import { AccountGroup, accountHandlers } from "./accounts/account.ts"
import { AdminsGroup, adminsHandlers } from "./accounts/admins.ts"
import { AuditLogGroup, auditLogHandlers } from "./accounts/audit-log.ts"
import { AuthGroup, authHandlers } from "./accounts/auth.ts"
import { ContactMessageGroup, contactMessageHandlers } from "./accounts/contact-messages.ts"
import { CustomerGroup, customerHandlers } from "./accounts/customers.ts"
import { FormGroup, formHandlers } from "./accounts/forms.ts"
import { PromoGroup, promoHandlers } from "./accounts/promo.ts"
import { ReceiptGroup, receiptHandlers } from "./accounts/receipts.ts"
import { InvitePageGroup, invitePageHandlers, TeamGroup, teamHandlers } from "./accounts/team.ts"
import { TokenGroup, tokenHandlers } from "./accounts/tokens.ts"
import { cleanDocument } from "./clean-document.ts"
import { AdminJobGroup, adminJobHandlers } from "./conversion/admin-jobs.ts"
import { BulkGroup, bulkHandlers } from "./conversion/bulk.ts"
import { FileGroup, fileHandlers } from "./conversion/files.ts"
import { FlyerGroup, flyerHandlers } from "./conversion/flyers.ts"
import { JobGroup, jobHandlers } from "./conversion/jobs.ts"
import { ResultPagesGroup, resultPagesHandlers } from "./conversion/result-pages.ts"
import { ResultsArchiveGroup, resultsArchiveHandlers } from "./conversion/results-archive.ts"
import { SharedGroup, sharedHandlers, SharingGroup, sharingHandlers } from "./conversion/sharing.ts"
import { AdminGroup, adminHandlers } from "./delivery/admin.ts"
import { AlertGroup, alertHandlers, NotificationGroup, notificationHandlers } from "./delivery/alerts.ts"
import { DigestGroup, digestHandlers } from "./delivery/digest.ts"
import { EventHookGroup, eventHookHandlers } from "./delivery/event-hooks.ts"
import { EventPollGroup, eventPollHandlers } from "./delivery/event-poll.ts"
import {
  CustomerMailGroup,
  customerMailHandlers,
  MailLinkGroup,
  mailLinkHandlers
} from "./delivery/mail-links.ts"
import { SenderDomainGroup, senderDomainHandlers } from "./delivery/sender-domain.ts"
import { StatsGroup, statsHandlers } from "./delivery/stats.ts"
import { EventBusGroup, eventBusHandlers, WebhookGroup, webhookHandlers } from "./delivery/webhooks.ts"
import { DevLinkGroup, devLinkHandlers } from "./dev-links.ts"
import { DevMessageGroup, devMessageHandlers } from "./dev-messages.ts"
import { DevTemplateGroup, devTemplateHandlers } from "./dev-templates.ts"
import { DevGroup, devHandlers } from "./dev.ts"
import { HealthGroup, healthHandlers } from "./health.ts"
import {
  ConvertEmailGroup,
  convertEmailHandlers,
  ConvertEmailTestGroup,
  convertEmailTestHandlers,
  MailResultsGroup,
  mailResultsHandlers
} from "./inbound/convert-email.ts"
import {
  IncomingMailGroup,
  incomingMailHandlers,
  OwnMailGroup,
  ownMailHandlers
} from "./inbound/incoming-mails.ts"
import { PipelineGroup, pipelineHandlers } from "./inbound/pipeline.ts"
import { AdminQueueGroup, adminQueueHandlers } from "./mail/admin-queue.ts"
import { PreferenceGroup, preferenceHandlers } from "./mail/preferences.ts"
import { QueueGroup, queueHandlers } from "./mail/queue.ts"
import { RelayGroup, relayHandlers } from "./mail/relay.ts"
import { SenderTokenGroup, senderTokenHandlers } from "./mail/sender-tokens.ts"
import { SendsGroup, sendsHandlers } from "./mail/sends.ts"
import { SuppressionGroup, suppressionHandlers } from "./mail/suppressions.ts"
import { OutreachGroup, outreachHandlers } from "./outreach/outreach.ts"
import { UnsubscribeGroup, unsubscribeHandlers } from "./outreach/unsubscribe.ts"

/** Every resource of the API: what it declares, and what answers it. A new one is added here and nowhere else. */
const RESOURCES = [
  [RelayGroup, () => relayHandlers],
  [QueueGroup, () => queueHandlers],
  [AdminQueueGroup, () => adminQueueHandlers],
  [SendsGroup, () => sendsHandlers],
  [SenderTokenGroup, () => senderTokenHandlers],
  [ReceiptGroup, () => receiptHandlers],
  [HealthGroup, () => healthHandlers(openApiText)],
  [AdminGroup, () => adminHandlers],
  [MailLinkGroup, mailLinkHandlers],
  [CustomerMailGroup, () => customerMailHandlers],
  [AuditLogGroup, () => auditLogHandlers],
  [ContactMessageGroup, () => contactMessageHandlers],
  [AlertGroup, () => alertHandlers],
  [NotificationGroup, () => notificationHandlers],
  [SenderDomainGroup, () => senderDomainHandlers],
  [SuppressionGroup, () => suppressionHandlers],
  [PreferenceGroup, () => preferenceHandlers],
  [EventHookGroup, () => eventHookHandlers],
  [StatsGroup, () => statsHandlers],
  [WebhookGroup, () => webhookHandlers],
  [EventPollGroup, () => eventPollHandlers],
  [PromoGroup, () => promoHandlers],
  [AuthGroup, authHandlers],
  [FormGroup, () => formHandlers],
  [TeamGroup, () => teamHandlers],
  [InvitePageGroup, invitePageHandlers],
  [AccountGroup, () => accountHandlers],
  [DigestGroup, () => digestHandlers],
  [OutreachGroup, () => outreachHandlers],
  [UnsubscribeGroup, () => unsubscribeHandlers],
  [EventBusGroup, () => eventBusHandlers],
  [ConvertEmailGroup, () => convertEmailHandlers],
  [ConvertEmailTestGroup, () => convertEmailTestHandlers],
  [MailResultsGroup, () => mailResultsHandlers],
  [OwnMailGroup, () => ownMailHandlers],
  [IncomingMailGroup, () => incomingMailHandlers],
  [PipelineGroup, () => pipelineHandlers],
  [FileGroup, () => fileHandlers],
  [FlyerGroup, () => flyerHandlers],
  [JobGroup, () => jobHandlers],
  [BulkGroup, () => bulkHandlers],
  [SharingGroup, () => sharingHandlers],
  [SharedGroup, () => sharedHandlers],
  [CustomerGroup, () => customerHandlers],
  [TokenGroup, () => tokenHandlers],
  [AdminsGroup, () => adminsHandlers],
  [ResultPagesGroup, () => resultPagesHandlers],
  [AdminJobGroup, () => adminJobHandlers],
  [ResultsArchiveGroup, () => resultsArchiveHandlers]
] as const

const [first, ...others] = RESOURCES.map(([group]) => group)

/**
 * The API of every Postlane.
 *
 * @since 0.1.0
 * @category models
 */
export class Api extends HttpApi.make(API_NAME).add(first!, ...others) {}

/** What answers the API. */
export const apiHandlers = (addresses: PublicAddresses) => {
  const [one, ...more] = RESOURCES.map(([, handlers]) => handlers(addresses))
  return Layer.mergeAll(one!, ...more)
}

/** What an embedded one serves in addition. */
export class DevApi extends HttpApi.make(API_NAME).add(
  DevGroup,
  DevTemplateGroup,
  DevMessageGroup,
  DevLinkGroup
) {}

export const devApiHandlers = (addresses: PublicAddresses) =>
  Layer.mergeAll(devHandlers, devTemplateHandlers, devMessageHandlers, devLinkHandlers(addresses))

/** The whole API, as in the OpenAPI document. */
export class DocumentedApi extends HttpApi.make("postlane-documented")
  .addHttpApi(Api)
  .addHttpApi(DevApi)
  .annotate(HttpApi.AdditionalSchemas, [AnyProblem, ProblemCode, ResultDocument])
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
