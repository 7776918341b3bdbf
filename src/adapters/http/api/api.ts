import { HttpApi, OpenApi } from "effect/http-api"

import { AnyProblem, ProblemCode } from "../problem.ts"
import { AdminGroup } from "./admin.ts"
import { AlertGroup, NotificationGroup } from "./alerts.ts"
import { AuditLogGroup } from "./audit-log.ts"
import { AuthGroup } from "./auth.ts"
import { BulkGroup } from "./bulk.ts"
import { AccountGroup, FormGroup, InvitePageGroup, TeamGroup } from "./callers.ts"
import { ContactMessageGroup } from "./contact-messages.ts"
import { ConvertEmailGroup, ConvertEmailTestGroup, MailResultsGroup } from "./convert-email.ts"
import { DevTemplateGroup } from "./dev-templates.ts"
import { DevGroup } from "./dev.ts"
import { DigestGroup } from "./digest.ts"
import { EventPollGroup } from "./event-poll.ts"
import { FileGroup } from "./files.ts"
import { FlyerGroup } from "./flyers.ts"
import { HealthGroup } from "./health.ts"
import { EventBusGroup, WebhookGroup } from "./intake.ts"
import { JobGroup } from "./jobs.ts"
import { OutreachGroup } from "./outreach.ts"
import { PipelineGroup } from "./pipeline.ts"
import { PromoGroup } from "./promo.ts"
import { ReceiptGroup } from "./receipts.ts"
import { RelayGroup } from "./relay.ts"
import { SharedGroup, SharingGroup } from "./sharing.ts"
import { StatsGroup } from "./stats.ts"
import { SuppressionGroup } from "./suppressions.ts"
import { UnsubscribeGroup } from "./unsubscribe.ts"

/** What every Postlane serves. A new group is added here and gets its handlers in `../handlers/`. */
export class Api extends HttpApi.make("postlane")
  .add(RelayGroup)
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
  .add(PipelineGroup)
  .add(FileGroup)
  .add(FlyerGroup)
  .add(JobGroup)
  .add(BulkGroup)
  .add(SharingGroup)
  .add(SharedGroup) {}

/** What an embedded one serves besides. */
export class DevApi extends HttpApi.make("postlane-dev").add(DevGroup).add(DevTemplateGroup) {}

/** All of it, as the OpenAPI document describes it. */
export class DocumentedApi extends HttpApi.make("postlane-documented")
  .addHttpApi(Api)
  .addHttpApi(DevApi)
  .annotate(HttpApi.AdditionalSchemas, [AnyProblem, ProblemCode])
  .annotateMerge(
    OpenApi.annotations({
      title: "Postlane",
      version: "0.1.0",
      description:
        "Outbound mail that is never sent twice. Every answer outside 2xx is a problem document (RFC 9457) whose `code` " +
        "is one of `ProblemCode`; `retryable` says whether the same request may be sent again."
    })
  ) {}
