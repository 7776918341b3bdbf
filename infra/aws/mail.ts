import { CfnOutput, Duration, type Stack } from "aws-cdk-lib"
import * as events from "aws-cdk-lib/aws-events"
import { ApiDestination as ApiDestinationTarget } from "aws-cdk-lib/aws-events-targets"
import * as secrets from "aws-cdk-lib/aws-secretsmanager"
import * as ses from "aws-cdk-lib/aws-ses"
import * as sqs from "aws-cdk-lib/aws-sqs"

import { DELIVERY, DETAIL_TYPES, EVENT_SOURCE, webhookOf } from "../../src/domain/doctor/cloud-side.ts"
import { type AddAlarm, deadLetterAlarm, reputationAlarms } from "./alarms.ts"
import type { Plan } from "./plan.ts"

/** Events of every mail (EVENT-14); the names on the bus follow. */
const MAIL_EVENTS = [
  ses.EmailSendingEvent.SEND,
  ses.EmailSendingEvent.DELIVERY,
  ses.EmailSendingEvent.DELIVERY_DELAY,
  ses.EmailSendingEvent.BOUNCE,
  ses.EmailSendingEvent.COMPLAINT,
  ses.EmailSendingEvent.REJECT,
  ses.EmailSendingEvent.RENDERING_FAILURE
]

/** Publishing these switches tracking on: outreach mail only. */
const TRACKED_EVENTS = [ses.EmailSendingEvent.OPEN, ses.EmailSendingEvent.CLICK]

/** Where events that could not be delivered in time are kept. */
const DEAD_LETTER_DAYS = 14

/** A configuration set whose events go to the default bus, the only one that SES publishes to. */
const configurationSet = (
  stack: Stack,
  id: string,
  configurationSetName: string,
  published: ReadonlyArray<ses.EmailSendingEvent>
) => {
  const set = new ses.ConfigurationSet(stack, id, {
    configurationSetName,
    reputationMetrics: true,
    suppressionReasons: ses.SuppressionReasons.BOUNCES_AND_COMPLAINTS
  })
  set.addEventDestination("EventBus", {
    destination: ses.EventDestination.eventBus(
      events.EventBus.fromEventBusName(stack, `${id}Bus`, "default")
    ),
    events: [...published]
  })
  return set
}

/** Delivers every event of SES to the webhook, for 24 hours, and keeps what could not be delivered (EVENT-12). */
const deliverEvents = (stack: Stack, plan: Plan, add: AddAlarm) => {
  const { cloud, http, providerB } = plan.settings
  const sets = [plan.configurationSet, providerB.outreachConfigurationSet]
  const secret = new secrets.Secret(stack, "WebhookSecret", {
    description: "PROVIDERB_WEBHOOK_SECRET: what the event bus sends in X-Webhook-Secret",
    generateSecretString: { excludePunctuation: true, passwordLength: 48 }
  })
  new CfnOutput(stack, "WebhookSecretName", {
    description: "Its value goes into PROVIDERB_WEBHOOK_SECRET",
    value: secret.secretName
  })
  const connection = new events.Connection(stack, "WebhookConnection", {
    authorization: events.Authorization.apiKey("X-Webhook-Secret", secret.secretValue)
  })
  const destination = new events.ApiDestination(stack, "Webhook", {
    connection,
    endpoint: webhookOf(http.baseUrl),
    httpMethod: events.HttpMethod.POST
  })
  const deadLetterQueue = new sqs.Queue(stack, "EventDeadLetters", {
    queueName: `${plan.names.prefix}-event-dead-letters`,
    retentionPeriod: Duration.days(DEAD_LETTER_DAYS),
    encryption: sqs.QueueEncryption.SQS_MANAGED,
    enforceSSL: true
  })
  new events.Rule(stack, "MailEvents", {
    description: "Delivery events of Amazon SES to Postlane's webhook",
    eventPattern: {
      source: [EVENT_SOURCE],
      detailType: [...DETAIL_TYPES],
      // The bus is the account's: an installation with a name takes the events of its own sets.
      ...(cloud.installation === undefined
        ? {}
        : { detail: { mail: { tags: { "ses:configuration-set": sets } } } })
    },
    targets: [
      new ApiDestinationTarget(destination, {
        deadLetterQueue,
        maxEventAge: Duration.hours(DELIVERY.hours),
        retryAttempts: DELIVERY.attempts
      })
    ]
  })
  const what = "Delivery events could not be delivered for 24 hours: rows of the log lack them"
  deadLetterAlarm(add, "EventDeadLetterAlarm", deadLetterQueue, what)
}

/** Everything about `provider_b`: the sender's identity, both configuration sets, the way of its events, and its reputation. */
export const mailResources = (stack: Stack, plan: Plan, add: AddAlarm): void => {
  const { domains, providerB } = plan.settings
  const own = configurationSet(stack, "TransactionalSet", plan.configurationSet, MAIL_EVENTS)
  configurationSet(stack, "OutreachSet", providerB.outreachConfigurationSet, [
    ...MAIL_EVENTS,
    ...TRACKED_EVENTS
  ])
  const identity = new ses.EmailIdentity(stack, "Sender", {
    identity: ses.Identity.domain(domains.sender),
    configurationSet: own,
    dkimIdentity: ses.DkimIdentity.easyDkim(ses.EasyDkimSigningKeyLength.RSA_2048_BIT),
    mailFromDomain: `bounce.${domains.sender}`
  })
  identity.dkimRecords.forEach(({ name, value }, index) => {
    new CfnOutput(stack, `DkimRecord${index + 1}`, { value: `${name} CNAME ${value}` })
  })
  deliverEvents(stack, plan, add)
  reputationAlarms(add)
}
