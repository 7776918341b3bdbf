import { ArnFormat, Aws, CfnOutput, type Stack } from "aws-cdk-lib"
import * as iam from "aws-cdk-lib/aws-iam"
import type * as s3 from "aws-cdk-lib/aws-s3"
import type * as sqs from "aws-cdk-lib/aws-sqs"

import type { CloudNames } from "../../src/domain/doctor/cloud-side.ts"

/** What the code calls, by the name of the SDK's command in src, and the actions that IAM checks for it. */
type Calls = Readonly<Record<string, ReadonlyArray<string>>>

/**
 * The calls of one kind of resource. A command that src does not use, or one that is not here, fails the test of this table.
 */
export const CALLS = {
  // SES composes a mail with attachments or headers of ours itself, and checks it as a raw one.
  send: { SendEmailCommand: ["ses:SendEmail", "ses:SendRawEmail"] },
  identity: { GetEmailIdentityCommand: ["ses:GetEmailIdentity"] },
  configurationSets: {
    GetConfigurationSetCommand: ["ses:GetConfigurationSet"],
    GetConfigurationSetEventDestinationsCommand: ["ses:GetConfigurationSetEventDestinations"]
  },
  account: {
    GetAccountCommand: ["ses:GetAccount"],
    ListSuppressedDestinationsCommand: ["ses:ListSuppressedDestinations"]
  },
  queue: { SendMessageCommand: ["sqs:SendMessage"] },
  queues: {
    ReceiveMessageCommand: ["sqs:ReceiveMessage"],
    DeleteMessageCommand: ["sqs:DeleteMessage"],
    ChangeMessageVisibilityCommand: ["sqs:ChangeMessageVisibility"],
    ChangeMessageVisibilityBatchCommand: ["sqs:ChangeMessageVisibility"],
    GetQueueAttributesCommand: ["sqs:GetQueueAttributes"],
    GetQueueUrlCommand: ["sqs:GetQueueUrl"]
  },
  objects: {
    Upload: ["s3:PutObject", "s3:AbortMultipartUpload"],
    PutObjectCommand: ["s3:PutObject"],
    GetObjectCommand: ["s3:GetObject"],
    HeadObjectCommand: ["s3:GetObject"],
    DeleteObjectsCommand: ["s3:DeleteObject"]
  },
  buckets: {
    ListObjectsV2Command: ["s3:ListBucket"],
    HeadBucketCommand: ["s3:ListBucket"]
  },
  bucketSettings: {
    GetBucketEncryptionCommand: ["s3:GetEncryptionConfiguration"],
    GetBucketLifecycleConfigurationCommand: ["s3:GetLifecycleConfiguration"],
    GetBucketPolicyCommand: ["s3:GetBucketPolicy"],
    GetPublicAccessBlockCommand: ["s3:GetBucketPublicAccessBlock"]
  },
  rules: { ListRulesCommand: ["events:ListRules"] },
  eventDelivery: {
    ListTargetsByRuleCommand: ["events:ListTargetsByRule"],
    DescribeApiDestinationCommand: ["events:DescribeApiDestination"],
    DescribeConnectionCommand: ["events:DescribeConnection"]
  },
  alarms: { DescribeAlarmsForMetricCommand: ["cloudwatch:DescribeAlarmsForMetric"] },
  lines: { DescribeMetricFiltersCommand: ["logs:DescribeMetricFilters"] },
  topics: { ListSubscriptionsByTopicCommand: ["sns:ListSubscriptionsByTopic"] },
  model: { ConverseCommand: ["bedrock:InvokeModel"] },
  profile: { GetInferenceProfileCommand: ["bedrock:GetInferenceProfile"] },
  batchModel: {
    CreateModelInvocationJobCommand: ["bedrock:CreateModelInvocationJob"]
  },
  batchJobs: {
    GetModelInvocationJobCommand: ["bedrock:GetModelInvocationJob"],
    StopModelInvocationJobCommand: ["bedrock:StopModelInvocationJob"]
  },
  batchList: { ListModelInvocationJobsCommand: ["bedrock:ListModelInvocationJobs"] }
} satisfies Readonly<Record<string, Calls>>

const allow = (kind: keyof typeof CALLS, resources: ReadonlyArray<string>): iam.PolicyStatement =>
  new iam.PolicyStatement({
    sid: `Postlane${kind[0]!.toUpperCase()}${kind.slice(1)}`,
    actions: [...new Set(Object.values<ReadonlyArray<string>>(CALLS[kind]).flat())],
    resources: [...resources]
  })

/** Geographies of cross-region inference profiles. */
const PROFILE = /^(us|us-gov|eu|apac|au|jp|ca|global)\.(.+)$/

/** What may be called to use the model: a profile stands before the models of several regions. */
const modelArns = (stack: Stack, modelId: string): ReadonlyArray<string> => {
  if (modelId.startsWith("arn:")) return [modelId]
  const foundation = (region: string, id: string) =>
    `arn:${Aws.PARTITION}:bedrock:${region}::foundation-model/${id}`
  const [, , behind] = PROFILE.exec(modelId) ?? []
  return behind === undefined
    ? [foundation(stack.region, modelId)]
    : [
        stack.formatArn({ service: "bedrock", resource: "inference-profile", resourceName: modelId }),
        foundation("*", behind)
      ]
}

const jobArns = (stack: Stack) =>
  stack.formatArn({ service: "bedrock", resource: "model-invocation-job", resourceName: "*" })

/** The role that Bedrock takes on for a batch job: this account's jobs, its bucket and the model, and nothing else. */
export const batchRole = (stack: Stack, bucket: s3.Bucket, modelId: string): iam.Role => {
  const role = new iam.Role(stack, "BatchRole", {
    description: "Bedrock reads and writes the records of Postlane's batch jobs",
    assumedBy: new iam.ServicePrincipal("bedrock.amazonaws.com", {
      conditions: {
        StringEquals: { "aws:SourceAccount": Aws.ACCOUNT_ID },
        ArnLike: { "aws:SourceArn": jobArns(stack) }
      }
    })
  })
  const own = { StringEquals: { "aws:ResourceAccount": Aws.ACCOUNT_ID } }
  role.addToPolicy(
    new iam.PolicyStatement({
      sid: "Records",
      actions: ["s3:GetObject", "s3:PutObject"],
      resources: [bucket.arnForObjects("*")],
      conditions: own
    })
  )
  role.addToPolicy(
    new iam.PolicyStatement({
      sid: "Folder",
      actions: ["s3:ListBucket"],
      resources: [bucket.bucketArn],
      conditions: own
    })
  )
  role.addToPolicy(
    new iam.PolicyStatement({
      sid: "Model",
      actions: ["bedrock:InvokeModel"],
      resources: [...modelArns(stack, modelId)]
    })
  )
  new CfnOutput(stack, "BatchRoleArn", {
    description: "BATCH_CONVERSION_ROLE_ARN",
    value: role.roleArn
  })
  return role
}

/** What the processes use. */
export interface Used {
  readonly names: CloudNames
  /** Region of Amazon SES. */
  readonly mailRegion: string
  readonly sender: string
  readonly configurationSets: ReadonlyArray<string>
  readonly queue: sqs.Queue
  readonly deadLetters: sqs.Queue
  readonly buckets: ReadonlyArray<s3.Bucket>
  readonly modelId: string
  readonly batchRole: iam.Role | undefined
}

const batchStatements = (
  stack: Stack,
  modelId: string,
  role: iam.Role
): ReadonlyArray<iam.PolicyStatement> => [
  allow("batchModel", [...modelArns(stack, modelId), jobArns(stack)]),
  allow("batchJobs", [jobArns(stack)]),
  // It names no resource.
  allow("batchList", ["*"]),
  new iam.PolicyStatement({
    sid: "PostlaneBatchRole",
    actions: ["iam:PassRole"],
    resources: [role.roleArn],
    conditions: { StringEquals: { "iam:PassedToService": "bedrock.amazonaws.com" } }
  })
]

/** What `doctor` reads of the event bus, the alarms, the log groups and the topics. */
const examinedStatements = (
  stack: Stack,
  mailRegion: string,
  names: CloudNames
): ReadonlyArray<iam.PolicyStatement> => {
  const events = (resource: string) =>
    stack.formatArn({ service: "events", region: mailRegion, resource, resourceName: "*" })
  const regions = [...new Set([stack.region, mailRegion])]
  return [
    // These two name no resource.
    allow("rules", ["*"]),
    allow("alarms", ["*"]),
    allow("eventDelivery", [events("rule"), events("api-destination"), events("connection")]),
    allow(
      "lines",
      Object.values(names.logGroups).map((name) =>
        stack.formatArn({
          service: "logs",
          resource: "log-group",
          resourceName: `${name}:*`,
          arnFormat: ArnFormat.COLON_RESOURCE_NAME
        })
      )
    ),
    allow(
      "topics",
      regions.map((region) => stack.formatArn({ service: "sns", region, resource: `${names.prefix}-*` }))
    )
  ]
}

const allowBuckets = ({ buckets }: Pick<Used, "buckets">) => [
  allow(
    "objects",
    buckets.map((bucket) => bucket.arnForObjects("*"))
  ),
  allow(
    "buckets",
    buckets.map(({ bucketArn }) => bucketArn)
  )
]

/**
 * The policy of a function, which the internet calls: it sends, queues and takes retries, and keeps files. Models, batch jobs, dead letters and
 * what doctor looks at are the processes'.
 */
export const functionPolicy = (stack: Stack, used: Used): iam.ManagedPolicy => {
  const ses = (resource: string, resourceName: string) =>
    stack.formatArn({ service: "ses", region: used.mailRegion, resource, resourceName })
  return new iam.ManagedPolicy(stack, "FunctionPolicy", {
    description: "What Postlane calls as a function, and nothing else",
    statements: [
      allow("send", [
        ses("identity", used.sender),
        ...used.configurationSets.map((name) => ses("configuration-set", name))
      ]),
      allow("queue", [used.queue.queueArn]),
      allow("queues", [used.queue.queueArn]),
      ...allowBuckets(used)
    ]
  })
}

/** The policy of the identity that signs the processes' calls: attach it to the instance role, or to the user of the keys. */
export const callerPolicy = (stack: Stack, used: Used): iam.ManagedPolicy => {
  const ses = (resource: string, resourceName: string) =>
    stack.formatArn({ service: "ses", region: used.mailRegion, resource, resourceName })
  const identity = ses("identity", used.sender)
  const sets = used.configurationSets.map((name) => ses("configuration-set", name))
  const policy = new iam.ManagedPolicy(stack, "CallerPolicy", {
    description: "What Postlane's processes call, and nothing else",
    statements: [
      allow("send", [identity, ...sets]),
      allow("identity", [identity]),
      allow("configurationSets", sets),
      // They name no resource.
      allow("account", ["*"]),
      allow("queue", [used.queue.queueArn]),
      allow("queues", [used.queue.queueArn, used.deadLetters.queueArn]),
      ...allowBuckets(used),
      allow(
        "bucketSettings",
        used.buckets.map(({ bucketArn }) => bucketArn)
      ),
      ...examinedStatements(stack, used.mailRegion, used.names),
      allow("model", modelArns(stack, used.modelId)),
      // What doctor looks at: the profile of this id, if it is one.
      allow("profile", [
        stack.formatArn({ service: "bedrock", resource: "inference-profile", resourceName: "*" })
      ]),
      ...(used.batchRole === undefined ? [] : batchStatements(stack, used.modelId, used.batchRole))
    ]
  })
  new CfnOutput(stack, "CallerPolicyArn", { value: policy.managedPolicyArn })
  return policy
}
