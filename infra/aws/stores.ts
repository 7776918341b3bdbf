import { CfnOutput, Duration, RemovalPolicy, type Stack } from "aws-cdk-lib"
import * as s3 from "aws-cdk-lib/aws-s3"
import * as sqs from "aws-cdk-lib/aws-sqs"

import { functionSeconds } from "../../src/application/mail/function-sizes.ts"
import { type AddAlarm, deadLetterAlarm } from "./alarms.ts"
import type { Plan } from "./plan.ts"

/** Receives before a message is a dead letter (MAIL-54). */
const RECEIVES = 3
/** A dead letter keeps its age: its queue has to keep it longer than the queue that it came from. */
const QUEUE_DAYS = 4
const DEAD_LETTER_DAYS = 14

/** How long what is not needed any more stays (BATCH-44). */
const KEPT_DAYS = 14

/** The parts of an upload that broke off. */
const UNFINISHED_DAYS = 1

/** A function needs six times its own time: as long may its messages wait in it. */
const visibilityOf = ({ code, settings }: Plan): number =>
  Math.max(
    settings.retryQueue.visibilitySeconds,
    code === undefined ? 0 : 6 * functionSeconds(settings.sending)
  )

/** The delayed retry queue and its dead letters. */
export const deferQueue = (stack: Stack, plan: Plan, add: AddAlarm) => {
  const sealed = { encryption: sqs.QueueEncryption.SQS_MANAGED, enforceSSL: true }
  const dead = new sqs.Queue(stack, "DeferDeadLetters", {
    ...sealed,
    queueName: `${plan.names.prefix}-email-defer-dead-letters`,
    retentionPeriod: Duration.days(DEAD_LETTER_DAYS)
  })
  const queue = new sqs.Queue(stack, "DeferQueue", {
    ...sealed,
    queueName: `${plan.names.prefix}-email-defer`,
    retentionPeriod: Duration.days(QUEUE_DAYS),
    visibilityTimeout: Duration.seconds(visibilityOf(plan)),
    deadLetterQueue: { queue: dead, maxReceiveCount: RECEIVES }
  })
  deadLetterAlarm(
    add,
    "DeferDeadLetterAlarm",
    dead,
    "Deferred mails could not be retried: postlane dead-letters"
  )
  new CfnOutput(stack, "DeferQueueUrl", {
    description: "EMAIL_DEFER_QUEUE_URL",
    value: queue.queueUrl
  })
  return { queue, dead }
}

const bucket = (stack: Stack, id: string, bucketName: string, more: Partial<s3.BucketProps>) =>
  new s3.Bucket(stack, id, {
    bucketName,
    encryption: s3.BucketEncryption.S3_MANAGED,
    blockPublicAccess: s3.BlockPublicAccess.BLOCK_ALL,
    objectOwnership: s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
    enforceSSL: true,
    removalPolicy: RemovalPolicy.RETAIN,
    ...more
  })

const unfinished = { abortIncompleteMultipartUploadAfter: Duration.days(UNFINISHED_DAYS) }

/** Objects that end by themselves: of ended batch jobs, and of mails under way. */
const shortLived = { lifecycleRules: [{ ...unfinished, expiration: Duration.days(KEPT_DAYS) }] }

/**
 * Owners' files stay until they delete them; what was deleted or overwritten stays as an older version, so that a database that is
 * restored to a point in those days finds the files that it names.
 */
const lasting = {
  versioned: true,
  lifecycleRules: [
    {
      ...unfinished,
      noncurrentVersionExpiration: Duration.days(KEPT_DAYS),
      expiredObjectDeleteMarker: true
    }
  ]
}

/** The buckets that the settings name. */
export const buckets = (stack: Stack, { filesBucket, settings }: Plan) => {
  const { batch, intake } = settings
  return {
    files: bucket(stack, "Files", filesBucket, lasting),
    batch: batch.bucket === undefined ? undefined : bucket(stack, "Batch", batch.bucket, shortLived),
    mails: intake.bucketIsSet ? bucket(stack, "Mails", intake.bucket, shortLived) : undefined
  }
}
