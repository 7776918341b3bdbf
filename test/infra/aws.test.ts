import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { fileURLToPath } from "node:url"

import { it as effect } from "@effect/vitest"
import { Stack } from "aws-cdk-lib"
import { Match, Template } from "aws-cdk-lib/assertions"
import { Effect, Layer, Logger } from "effect"
import { afterAll, assert, describe, expect, it } from "vitest"

import { cloudApp } from "../../infra/aws/app.ts"
import { applyAll, type AwsCli } from "../../infra/aws/apply.ts"
import { CALLS } from "../../infra/aws/permissions.ts"
import { readPlan } from "../../infra/aws/plan.ts"
import { readSourceFiles } from "../../scripts/source-files.ts"
import * as MailTemplates from "../../src/adapters/mail-templates/mail-templates.ts"
import { makeAlarmBoard, NOTHING } from "../../src/adapters/memory/delivery/alarm-board.ts"
import * as MemoryDeferrals from "../../src/adapters/memory/mail/deferrals.ts"
import { decodeBusEvents } from "../../src/adapters/ses/bus-event.ts"
import { layer as layerNotices, watchAlarms } from "../../src/application/delivery/alarms.ts"
import { AlertConfig } from "../../src/application/delivery/alert-ways.ts"
import { RETRIES_AT_ONCE } from "../../src/application/mail/function-sizes.ts"
import { Mailer } from "../../src/application/mail/mailer.ts"
import { AlarmBoard } from "../../src/ports/delivery/alarm-board.ts"
import { Chats } from "../../src/ports/delivery/alert-channels.ts"
import { DeferQueue } from "../../src/ports/mail/defer-queue.ts"
import { lineLogger } from "../../src/runtime/process/log-lines.ts"
import { mail, makeHarness } from "../application/mail/harness.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))

const ENV = {
  SENDER_DOMAIN: "mail.example.com",
  LEGACY_DOMAIN: "example.com",
  BASE_URL: "https://api.example.com",
  ALERT_EMAIL: "ops@example.com",
  FILES_BUCKET: "example-files",
  BATCH_CONVERSION_S3_BUCKET: "example-batch",
  CONVERT_EMAIL_BUCKET: "example-mails"
}

const templates = mkdtempSync(join(tmpdir(), "postlane-aws-"))
// `npm run infra`, below, has CDK's rules look at the templates: to load them takes longer than all of these tests.
process.env["CDK_VALIDATION"] = "false"
afterAll(() => {
  delete process.env["CDK_VALIDATION"]
  rmSync(templates, { recursive: true })
})

const stacksOf = (change: NodeJS.ProcessEnv = {}) => {
  const app = cloudApp(readPlan({ ...ENV, ...change }), mkdtempSync(join(templates, "app-")))
  return app.node.children.filter((child) => child instanceof Stack)
}
const [only] = stacksOf()
const template = Template.fromStack(only!)

interface Statement {
  readonly Sid?: string
  readonly Action: string | ReadonlyArray<string>
  readonly Resource: unknown
  readonly Condition?: unknown
}
const listed = <A>(one: A | ReadonlyArray<A>): ReadonlyArray<A> => (Array.isArray(one) ? one : [one as A])

const statementsOf = (type: string): ReadonlyArray<Statement> =>
  Object.values(template.findResources(type)).flatMap(
    ({ Properties }) => Properties.PolicyDocument.Statement as ReadonlyArray<Statement>
  )

describe("the templates", () => {
  it("are those that were reviewed", async () => {
    const text = `${JSON.stringify(template.toJSON(), null, 1)}\n`
    await expect(text).toMatchFileSnapshot("templates/postlane.template.json")
    // What CloudFormation takes without a bucket to fetch it from.
    assert.isBelow(text.length, 51_200)
  })

  it("hold no secret, and no account", () => {
    const text = JSON.stringify(template.toJSON())
    assert.notMatch(text, /\b\d{12}\b/)
    assert.include(text, "{{resolve:secretsmanager:")
  })

  it("are two where Amazon SES is in another region, each with alarms to a topic of its own", () => {
    const [home, mailStack] = stacksOf({ PROVIDERB_REGION: "eu-west-1" })
    assert.deepStrictEqual(
      [home, mailStack].map((stack) => [stack?.stackName, stack?.region]),
      [
        ["postlane", "us-east-1"],
        ["postlane-mail", "eu-west-1"]
      ]
    )
    const [own, mails] = [Template.fromStack(home!), Template.fromStack(mailStack!)]
    own.resourceCountIs("AWS::SES::EmailIdentity", 0)
    mails.resourceCountIs("AWS::SES::EmailIdentity", 1)
    for (const one of [own, mails]) one.resourceCountIs("AWS::SNS::Subscription", 1)
    assert.include(JSON.stringify(own.findResources("AWS::IAM::ManagedPolicy")), ":ses:eu-west-1:")
  })

  it("make only the buckets that are named", () => {
    const [stack] = stacksOf({ BATCH_CONVERSION_S3_BUCKET: "", CONVERT_EMAIL_BUCKET: "" })
    const small = Template.fromStack(stack!)
    small.resourceCountIs("AWS::S3::Bucket", 1)
    const text = JSON.stringify(small.findResources("AWS::IAM::ManagedPolicy"))
    assert.notInclude(text, "PassRole")
    assert.notInclude(text, "ModelInvocationJob")
  })
})

describe("the function", () => {
  const [home, own] = stacksOf({
    FUNCTION_CODE: "s3://example-code/postlane-1.zip",
    DB_URL: "postgres://postlane@db.example.com/postlane",
    DB_SERVICE_KEY: "a secret key",
    CLOUD_ACCESS_KEY_ID: "AKIDEXAMPLE",
    CLOUD_SECRET_ACCESS_KEY: "a secret access key",
    POSTLANE_ROLES: "leader"
  })
  const function_ = Template.fromStack(own!)

  it("is as it was reviewed, in a stack of its own, and holds no secret", async () => {
    assert.strictEqual(own?.stackName, "postlane-function")
    const text = `${JSON.stringify(function_.toJSON(), null, 1)}\n`
    await expect(text).toMatchFileSnapshot("templates/postlane-function.template.json")
    assert.notMatch(text, /a secret|AKIDEXAMPLE|postgres:|\b\d{12}\b/)
  })

  it("gets the settings; secrets by reference, keys from its role, and roles of its own", () => {
    const [found] = Object.values(function_.findResources("AWS::Lambda::Function"))
    const variables: Readonly<Record<string, string>> = found!["Properties"].Environment.Variables
    assert.strictEqual(variables["BASE_URL"], "https://api.example.com")
    for (const name of ["DB_URL", "DB_SECRET_KEY"])
      assert.strictEqual(variables[name], `{{resolve:secretsmanager:postlane/settings:SecretString:${name}}}`)
    assert.notInclude(Object.keys(variables).join(), "CLOUD_")
    assert.isDefined(variables["EMAIL_DEFER_QUEUE_URL"])
    assert.notProperty(variables, "POSTLANE_ROLES")
  })

  it("answers every request, retries with reports for each message, and does what is due each minute", () => {
    function_.hasResourceProperties("AWS::ApiGatewayV2::Route", { RouteKey: "$default" })
    function_.hasResourceProperties("AWS::ApiGatewayV2::Integration", { PayloadFormatVersion: "2.0" })
    function_.hasResourceProperties("AWS::Lambda::EventSourceMapping", {
      BatchSize: RETRIES_AT_ONCE,
      FunctionResponseTypes: ["ReportBatchItemFailures"]
    })
    function_.hasResourceProperties("AWS::Scheduler::Schedule", { ScheduleExpression: "rate(1 minute)" })
    Template.fromStack(home!).hasResourceProperties("AWS::SQS::Queue", {
      QueueName: "postlane-email-defer",
      VisibilityTimeout: 360
    })
  })

  it("has the time that its slowest send takes, and six times as long for messages in it", () => {
    for (const [timeout, seconds] of [
      ["15000", 60],
      ["30000", 90]
    ] as const) {
      const code = "s3://example-code/postlane-1.zip"
      const stacks = stacksOf({ FUNCTION_CODE: code, EMAIL_ATTEMPT_TIMEOUT_MS: timeout })
      const [queues, deployed] = [stacks[0]!, stacks.at(-1)!].map((stack) => Template.fromStack(stack))
      deployed!.hasResourceProperties("AWS::Lambda::Function", { Timeout: seconds })
      queues!.hasResourceProperties("AWS::SQS::Queue", {
        QueueName: "postlane-email-defer",
        VisibilityTimeout: 6 * seconds
      })
    }
  })

  it("may call what every process calls, write lines, and nothing else; the schedule may call it, and nothing else", () => {
    const roles = Object.values(function_.findResources("AWS::IAM::Role")).map(({ Properties }) => Properties)
    assert.lengthOf(
      roles.flatMap(
        ({ ManagedPolicyArns }) => (ManagedPolicyArns as ReadonlyArray<unknown> | undefined) ?? []
      ),
      1
    )
    const statements = Object.values(function_.findResources("AWS::IAM::Policy")).flatMap(
      ({ Properties }) => Properties.PolicyDocument.Statement as ReadonlyArray<Statement>
    )
    assert.sameDeepMembers(
      statements.map(({ Action }) => listed(Action)),
      [["lambda:InvokeFunction"], ["logs:CreateLogStream", "logs:PutLogEvents"]]
    )
    for (const { Resource } of statements) assert.notStrictEqual(Resource, "*")
    const callers = Object.values(function_.findResources("AWS::Lambda::Permission"))
    assert.deepStrictEqual(
      callers.map(({ Properties }) => Properties.Principal),
      ["apigateway.amazonaws.com"]
    )
  })
})

describe("the plan", () => {
  it("takes code from a bucket only", () => {
    assert.throws(() => readPlan({ ...ENV, FUNCTION_CODE: "https://x.test/a.zip" }), /FUNCTION_CODE must be/)
  })

  it("names everything that is missing at once", () => {
    assert.throws(() => readPlan({}), /SENDER_DOMAIN[^]*BASE_URL[^]*ALERT_EMAIL[^]*FILES_BUCKET/)
    assert.throws(() => readPlan({ ...ENV, BASE_URL: "http://api.example.com" }), /https/)
    assert.throws(() => readPlan({ ...ENV, FILES_BUCKET: "No Bucket" }), /FILES_BUCKET/)
  })
})

describe("sending", () => {
  it("signs with Easy DKIM of 2048 bits, bounces to its own name, and has a default set", () => {
    template.hasResourceProperties("AWS::SES::EmailIdentity", {
      EmailIdentity: "mail.example.com",
      DkimSigningAttributes: { NextSigningKeyLength: "RSA_2048_BIT" },
      MailFromAttributes: { MailFromDomain: "bounce.mail.example.com" },
      ConfigurationSetAttributes: { ConfigurationSetName: Match.anyValue() }
    })
  })

  it("suppresses bounces and complaints in both sets, and tracks outreach mail only", () => {
    for (const Name of ["transactional-set", "outreach-set"]) {
      template.hasResourceProperties("AWS::SES::ConfigurationSet", {
        Name,
        SuppressionOptions: { SuppressedReasons: ["BOUNCE", "COMPLAINT"] }
      })
    }
    const published = Object.values(template.findResources("AWS::SES::ConfigurationSetEventDestination")).map(
      ({ Properties }) => Properties.EventDestination.MatchingEventTypes as ReadonlyArray<string>
    )
    const every = ["send", "delivery", "deliveryDelay", "bounce", "complaint", "reject", "renderingFailure"]
    assert.sameDeepMembers(published, [every, [...every, "open", "click"]])
  })

  it("delivers every event that the webhook records, for 24 hours, and then keeps it", () => {
    template.hasResourceProperties("AWS::Events::Rule", {
      Targets: [
        Match.objectLike({
          RetryPolicy: { MaximumEventAgeInSeconds: 86_400, MaximumRetryAttempts: 185 },
          DeadLetterConfig: Match.anyValue()
        })
      ]
    })
    template.hasResourceProperties("AWS::Events::ApiDestination", {
      InvocationEndpoint: "https://api.example.com/api/webhooks/providerb-events",
      HttpMethod: "POST"
    })
    template.hasResourceProperties("AWS::Events::Connection", {
      AuthParameters: { ApiKeyAuthParameters: { ApiKeyName: "X-Webhook-Secret" } }
    })
    const [rule] = Object.values(template.findResources("AWS::Events::Rule"))
    const routed: ReadonlyArray<string> = rule!["Properties"].EventPattern["detail-type"]
    const samples: ReadonlyArray<Record<string, unknown>> = JSON.parse(
      readFileSync(`${root}/test/support/vendors/ses-events.json`, "utf8")
    )
    const recorded = samples
      .filter((sample) => decodeBusEvents(sample, { outreachSet: undefined })[0]?._tag === "Event")
      .map((sample) => String(sample["detail-type"]))
    assert.sameMembers([...new Set(recorded)], [...routed])
  })
})

describe("queues and buckets", () => {
  it("give a deferred send three receives", () => {
    template.hasResourceProperties("AWS::SQS::Queue", {
      QueueName: "postlane-email-defer",
      VisibilityTimeout: 60,
      RedrivePolicy: Match.objectLike({ maxReceiveCount: 3 })
    })
  })

  it("keep dead letters for longer than the queues keep messages", () => {
    const kept = Object.values(template.findResources("AWS::SQS::Queue")).map(({ Properties }) => [
      String(Properties.QueueName).endsWith("dead-letters"),
      Properties.MessageRetentionPeriod as number
    ])
    assert.sameDeepMembers(kept, [
      [false, 4 * 86_400],
      [true, 14 * 86_400],
      [true, 14 * 86_400]
    ])
  })

  it("are encrypted, private and reached over TLS only, and stay where the stack goes", () => {
    const all = template.findResources("AWS::S3::Bucket")
    assert.lengthOf(Object.keys(all), 3)
    template.allResourcesProperties("AWS::S3::Bucket", {
      BucketEncryption: {
        ServerSideEncryptionConfiguration: [{ ServerSideEncryptionByDefault: { SSEAlgorithm: "AES256" } }]
      },
      PublicAccessBlockConfiguration: {
        BlockPublicAcls: true,
        BlockPublicPolicy: true,
        IgnorePublicAcls: true,
        RestrictPublicBuckets: true
      }
    })
    template.allResources("AWS::S3::Bucket", { DeletionPolicy: "Retain" })
    const plain = { Effect: "Deny", Condition: { Bool: { "aws:SecureTransport": "false" } } }
    for (const [type, count] of [
      ["AWS::S3::BucketPolicy", 3],
      ["AWS::SQS::QueuePolicy", 3]
    ] as const) {
      template.resourceCountIs(type, count)
      template.allResourcesProperties(type, {
        PolicyDocument: { Statement: Match.arrayWith([Match.objectLike(plain)]) }
      })
    }
  })

  it("drop what is short-lived after 14 days, and an owner's file never by itself", () => {
    const rule = (BucketName: string) => {
      const [found] = Object.values(template.findResources("AWS::S3::Bucket", { Properties: { BucketName } }))
      return found!["Properties"].LifecycleConfiguration.Rules[0]
    }
    for (const name of ["example-batch", "example-mails"]) {
      assert.strictEqual(rule(name).ExpirationInDays, 14)
    }
    assert.isUndefined(rule("example-files").ExpirationInDays)
    assert.strictEqual(rule("example-files").NoncurrentVersionExpiration.NoncurrentDays, 14)
  })
})

describe("permissions", () => {
  const calls: Readonly<Record<string, ReadonlyArray<string>>> = Object.assign({}, ...Object.values(CALLS))

  it("name exactly the commands that src sends", () => {
    const used = readSourceFiles(root, ["src"])
      .filter(({ text }) => text.includes('from "@aws-sdk/'))
      .flatMap(({ text }) => [...text.matchAll(/\bnew (\w+Command|Upload)\(/g)].map(([, name]) => name!))
    assert.sameMembers(Object.keys(calls), [...new Set(used)])
  })

  it("allow exactly the actions that those need, none of them by a wildcard", () => {
    const allowed = statementsOf("AWS::IAM::ManagedPolicy").flatMap(({ Action }) => listed(Action))
    assert.sameMembers([...new Set(allowed)], [...new Set(Object.values(calls).flat()), "iam:PassRole"])
    for (const action of allowed) assert.notInclude(action, "*")
  })

  it("name the resources of each action, but for those that know none", () => {
    const open = statementsOf("AWS::IAM::ManagedPolicy").filter(({ Resource }) => Resource === "*")
    assert.sameMembers(
      open.flatMap(({ Action }) => listed(Action)),
      [
        "ses:GetAccount",
        "ses:ListSuppressedDestinations",
        "events:ListRules",
        "cloudwatch:DescribeAlarmsForMetric",
        "bedrock:ListModelInvocationJobs"
      ]
    )
  })

  it("let Bedrock take the batch role on for this account's jobs, and reach nothing but its bucket and the model", () => {
    template.hasResourceProperties("AWS::IAM::Role", {
      AssumeRolePolicyDocument: {
        Statement: [
          Match.objectLike({
            Principal: { Service: "bedrock.amazonaws.com" },
            Condition: {
              StringEquals: { "aws:SourceAccount": { Ref: "AWS::AccountId" } },
              ArnLike: { "aws:SourceArn": Match.anyValue() }
            }
          })
        ]
      }
    })
    const own = statementsOf("AWS::IAM::Policy").filter(({ Sid }) => Sid !== undefined)
    assert.deepStrictEqual(
      own.map(({ Action, Sid }) => [Sid, Action]),
      [
        ["Records", ["s3:GetObject", "s3:PutObject"]],
        ["Folder", "s3:ListBucket"],
        ["Model", "bedrock:InvokeModel"]
      ]
    )
    assert.include(JSON.stringify(own), "foundation-model/anthropic.")
    const pass = statementsOf("AWS::IAM::ManagedPolicy").find(({ Action }) => Action === "iam:PassRole")
    assert.deepStrictEqual(pass?.Condition, {
      StringEquals: { "iam:PassedToService": "bedrock.amazonaws.com" }
    })
  })
})

/** The lines that are printed where a send fails over and an alarm begins and ends. */
const printed = Effect.gen(function* () {
  const lines: Array<string> = []
  const harness = yield* makeHarness({ fallback: "provider_b" })
  harness.scripts.provider_a.push("unavailable")
  const board = { now: { ...NOTHING, failovers: 3 } }
  const alarms = watchAlarms.pipe(
    Effect.provide(
      layerNotices.pipe(
        Layer.provide([
          Layer.succeed(AlertConfig, { email: "ops@x.test", baseUrl: "https://postlane.test" }),
          Layer.succeed(Mailer, Mailer.of({ send: harness.send })),
          MemoryDeferrals.layer(harness.database),
          MailTemplates.layer,
          Layer.succeed(Chats, Chats.of({ chat: { configured: false, post: () => Effect.void } }))
        ]),
        Layer.merge(Layer.succeed(AlarmBoard, AlarmBoard.of(makeAlarmBoard(board)))),
        Layer.merge(Layer.mock(DeferQueue, { configured: false }))
      )
    )
  )
  yield* Effect.andThen(harness.send(mail()), alarms).pipe(
    Effect.provideService(
      Logger.CurrentLoggers,
      new Set([lineLogger({ write: (line) => lines.push(line) }, (text) => text)])
    )
  )
  return lines.map((line) => (JSON.parse(line) as { readonly message: string }).message)
})

/** CloudWatch's own reading of `{ $.message = "…" }`, in which `*` is any text. */
const matches = (pattern: string, message: string): boolean => {
  const [, wanted = ""] = /^\{ \$\.message = "([^"]*)" \}$/.exec(pattern) ?? []
  const literal = wanted.split("*").map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"))
  return wanted !== "" && new RegExp(`^${literal.join(".*")}$`).test(message)
}

describe("alarms", () => {
  const alarms = Object.values(template.findResources("AWS::CloudWatch::Alarm")).map(
    ({ Properties }) => Properties
  )

  it("are those of EVENT-40, each mailed when it begins and when it ends", () => {
    assert.sameDeepMembers(
      alarms.map((one) => [one.MetricName, one.ComparisonOperator, one.Threshold, one.Period, one.Statistic]),
      [
        ["Failovers", "GreaterThanOrEqualToThreshold", 3, 900, "Sum"],
        ["Alarms", "GreaterThanOrEqualToThreshold", 1, 300, "Sum"],
        ["Reputation.BounceRate", "GreaterThanThreshold", 0.02, 3600, "Maximum"],
        ["Reputation.ComplaintRate", "GreaterThanThreshold", 0.0005, 3600, "Maximum"],
        ["ApproximateNumberOfMessagesVisible", "GreaterThanOrEqualToThreshold", 1, 300, "Maximum"],
        ["ApproximateNumberOfMessagesVisible", "GreaterThanOrEqualToThreshold", 1, 300, "Maximum"]
      ]
    )
    for (const { AlarmActions, OKActions } of alarms) {
      assert.lengthOf(AlarmActions, 1)
      assert.deepStrictEqual(AlarmActions, OKActions)
    }
    template.hasResourceProperties("AWS::SNS::Subscription", {
      Protocol: "email",
      Endpoint: "ops@example.com"
    })
  })

  it("count metrics that a filter makes, in every log group", () => {
    const filters = Object.values(template.findResources("AWS::Logs::MetricFilter")).map(
      ({ Properties }) => Properties
    )
    const made = filters.flatMap(({ MetricTransformations }) =>
      MetricTransformations.map(
        (one: Record<string, string>) => `${one["MetricNamespace"]}/${one["MetricName"]}`
      )
    )
    const counted = alarms.filter(({ Namespace }) => Namespace === "Postlane")
    const wanted = counted.map(({ MetricName }) => `Postlane/${MetricName}`)
    assert.sameMembers(made, [...wanted, ...wanted])
    assert.lengthOf(new Set(filters.map(({ LogGroupName }) => JSON.stringify(LogGroupName))), 2)
  })

  effect.effect("are fed by lines that the logger prints", () =>
    Effect.gen(function* () {
      const lines = yield* printed
      const patterns = new Set(
        Object.values(template.findResources("AWS::Logs::MetricFilter")).map(
          ({ Properties }) => Properties.FilterPattern as string
        )
      )
      const source = readSourceFiles(root, ["src"])
        .map(({ text }) => text)
        .join("\n")
      for (const pattern of patterns) {
        const [, word] = /"(\w+)/.exec(pattern) ?? []
        assert.match(source, new RegExp(`log(Warning|Error)\\([\`"]${word}[ \`"]`))
        assert.lengthOf(
          lines.filter((line) => matches(pattern, line)),
          1,
          pattern
        )
      }
      for (const pattern of patterns) assert.isFalse(matches(pattern, "EMAIL_ALARM_OVER failovers"))
    })
  )
})

/** Runs `npm run infra` with an AWS CLI whose stacks give out `outputs`; without any, there are none. */
type Standing = ReadonlyArray<readonly [string, string]>

const answerOf = (call: string, outputs: Standing | undefined) => {
  const isAskedFor = (what: string) => call.includes(what)
  if (isAskedFor("--query Stacks[0].Outputs[].[OutputKey,OutputValue] "))
    return outputs && JSON.stringify(outputs)
  if (isAskedFor("describe-secret")) return '{"one":["AWSPREVIOUS"],"two":["AWSCURRENT"]}'
  const changeSet = "arn:aws:cloudformation:us-east-1:1:changeSet/one/2"
  return isAskedFor("cloudformation deploy")
    ? `Run: aws cloudformation describe-change-set --change-set-name ${changeSet}`
    : ""
}

/** `apply` against an AWS CLI that answers as the real one does of a stack that gives out `outputs`, or of none. */
const infra = (isReplacing: boolean, outputs?: Standing, change: NodeJS.ProcessEnv = {}) => {
  const calls: Array<string> = []
  const ask: AwsCli = (...args) => {
    const call = args.join(" ")
    calls.push(args.slice(1).join(" "))
    const stdout = answerOf(call, outputs)
    return stdout === undefined
      ? { isDone: false, stdout: "", why: "Stack with id postlane does not exist" }
      : { isDone: true, stdout, why: "" }
  }
  const outdir = mkdtempSync(join(templates, "apply-"))
  let refusal = ""
  try {
    applyAll({ ...ENV, ...change }, outdir, isReplacing, { ask, print: () => undefined })
  } catch (error) {
    refusal = String(error)
  }
  return { calls, refusal }
}

const verbs = (calls: ReadonlyArray<string>) => calls.map((call) => call.split(" ")[0])

/** The program itself, whose AWS CLI writes down how it was called: no stack stands. */
const spawned = () => {
  const folder = mkdtempSync(join(templates, "aws-"))
  const script = `#!/bin/sh
echo "$@" >> ${folder}/calls
case "$*" in
  *"[OutputKey,OutputValue] "*) echo "Stack with id postlane does not exist" >&2; exit 254 ;;
  *"cloudformation deploy"*) echo '${answerOf("cloudformation deploy", [])}' ;;
esac
`
  writeFileSync(join(folder, "aws"), script, { mode: 0o755 })
  const { status, stderr } = spawnSync(process.execPath, [join(root, "infra/aws/main.ts"), "apply"], {
    env: { ...ENV, PATH: `${folder}${delimiter}${process.env["PATH"]}` },
    encoding: "utf8"
  })
  const calls = readFileSync(join(folder, "calls"), "utf8").trim().split("\n")
  return { status, stderr, calls: calls.map((call) => call.split(" ").slice(1).join(" ")) }
}

describe("npm run infra", () => {
  it("shows what changes, applies it with the AWS CLI, then prints what the stack gives out", () => {
    const { calls, status, stderr } = spawned()
    // What a template breaks of CDK's rules is a warning there.
    assert.deepStrictEqual([status, stderr], [0, ""])
    assert.deepStrictEqual(verbs(calls), [
      "describe-stacks",
      "describe-stacks",
      "deploy",
      "describe-change-set",
      "execute-change-set",
      "wait",
      "describe-stacks"
    ])
    assert.match(
      calls[2]!,
      /^deploy --region us-east-1 --stack-name postlane --template-file \S+postlane\.template\.json --capabilities CAPABILITY_IAM --no-execute-changeset/
    )
    for (const call of calls.slice(3, 5))
      assert.include(call, "--change-set-name arn:aws:cloudformation:us-east-1:1:changeSet/one/2")
    assert.include(calls[5], "wait stack-create-complete")
  })

  it("touches no stack that stands for another domain or address, unless --replace says so", () => {
    const production = [
      ["SenderDomain", "mail.example.com"],
      ["BaseUrl", "https://api.example.com"]
    ] as const
    const staging = { BASE_URL: "https://staging.example.com" }
    const refused = infra(false, production, staging)
    assert.include(
      refused.refusal,
      "postlane stands for another installation:\n  BaseUrl: https://api.example.com there, https://staging.example.com here"
    )
    assert.include(refused.refusal, "INSTALLATION=staging")
    assert.deepStrictEqual(verbs(refused.calls), ["describe-stacks"])
    const other = infra(false, production, { SENDER_DOMAIN: "mail.staging.example.com" })
    assert.include(other.refusal, "SenderDomain: mail.example.com there")
    const replaced = infra(true, production, staging)
    assert.strictEqual(replaced.refusal, "")
    assert.include(replaced.calls.join("\n"), "wait stack-update-complete")
    assert.strictEqual(infra(false, production).refusal, "")
  })
})

describe("the function's surroundings", () => {
  const CODE = { FUNCTION_CODE: "s3://example-code/postlane-1.zip" }
  const functionOf = (change: NodeJS.ProcessEnv) => Template.fromStack(stacksOf({ ...CODE, ...change })[1]!)

  it("a rotated secret changes the template: its version is in it, and apply looks it up", () => {
    const keyed = functionOf({ DB_URL: "postgres://p@db/p", FUNCTION_SECRET_VERSION: "two" })
    keyed.hasResourceProperties("AWS::Lambda::Function", {
      Environment: {
        Variables: Match.objectLike({
          DB_URL: "{{resolve:secretsmanager:postlane/settings:SecretString:DB_URL::two}}"
        })
      }
    })
    const { calls } = infra(false, [], CODE)
    assert.include(calls[0], "describe-secret --region us-east-1 --secret-id postlane/settings")
    const looked = calls.filter((call) => call.startsWith("deploy"))
    assert.lengthOf(looked, 2)
  })

  it("a network and a limit of its own, so that a database is reached and its connections suffice", () => {
    functionOf({}).hasResourceProperties("AWS::Lambda::Function", { ReservedConcurrentExecutions: 6 })
    functionOf({}).hasResourceProperties("AWS::Lambda::EventSourceMapping", {
      ScalingConfig: { MaximumConcurrency: 3 }
    })
    const inside = functionOf({
      FUNCTION_SUBNETS: "subnet-1, subnet-2",
      FUNCTION_SECURITY_GROUPS: "sg-1",
      FUNCTION_CONCURRENCY: "0"
    })
    inside.hasResourceProperties("AWS::Lambda::Function", {
      VpcConfig: { SubnetIds: ["subnet-1", "subnet-2"], SecurityGroupIds: ["sg-1"] },
      ReservedConcurrentExecutions: Match.absent()
    })
    assert.include(JSON.stringify(inside.findResources("AWS::IAM::Role")), "AWSLambdaVPCAccessExecutionRole")
    assert.throws(() => functionOf({ FUNCTION_SUBNETS: "subnet-1" }), /FUNCTION_SECURITY_GROUPS/)
    assert.throws(() => functionOf({ FUNCTION_CONCURRENCY: "1" }), /FUNCTION_CONCURRENCY must be 3/)
  })

  it("a policy without roles to pass, models, batch jobs and dead letters", () => {
    const policies = template.findResources("AWS::IAM::ManagedPolicy", {
      Properties: { Description: "What Postlane calls as a function, and nothing else" }
    })
    const text = JSON.stringify(policies)
    assert.lengthOf(Object.keys(policies), 1)
    assert.include(text, "ses:SendEmail")
    assert.notMatch(text, /PassRole|bedrock|DeferDeadLetters|example-batch|BatchBucket|events:|cloudwatch:/)
    // The function holds that one, and its log lines.
    const used = JSON.stringify(functionOf({}).findResources("AWS::IAM::Role"))
    assert.include(used, "FunctionPolicy")
    assert.notInclude(used, "CallerPolicy")
  })
})

describe("a second installation in the account", () => {
  const STAGING = {
    INSTALLATION: "staging",
    PROVIDERB_CONFIGURATION_SET: "staging-outreach-set",
    FUNCTION_CODE: "s3://example-code/postlane-1.zip"
  }

  it("shares no name with the first one", () => {
    const namesOf = (change: NodeJS.ProcessEnv) => {
      const stacks = stacksOf(change)
      const named = stacks.flatMap((stack) =>
        Object.values(
          Template.fromStack(stack).toJSON()["Resources"] as Record<string, { Properties: object }>
        ).flatMap(({ Properties }) =>
          Object.entries(Properties).flatMap(([key, value]) =>
            // Buckets and the domain are named by settings.
            /^(?:QueueName|FunctionName|LogGroupName|MetricNamespace|Namespace|TopicName)$|^Name$/.test(
              key
            ) &&
            typeof value === "string" &&
            !value.startsWith("AWS/")
              ? [value]
              : []
          )
        )
      )
      return new Set([...named, ...stacks.map(({ stackName }) => stackName)])
    }
    const first = namesOf({ FUNCTION_CODE: STAGING.FUNCTION_CODE })
    const second = namesOf(STAGING)
    assert.sameMembers(
      [...first],
      [
        "postlane",
        "postlane-function",
        "postlane-email-defer",
        "postlane-email-defer-dead-letters",
        "postlane-event-dead-letters",
        "/postlane/api",
        "/postlane/anchor",
        "Postlane",
        "transactional-set",
        "outreach-set"
      ]
    )
    assert.strictEqual(second.size, first.size)
    assert.deepStrictEqual(
      [...second].filter((name) => first.has(name)),
      []
    )
    assert.isTrue(second.has("postlane-staging-function"))
  })

  it("takes the events of its own configuration sets, which it has to name", () => {
    const [home] = stacksOf(STAGING)
    Template.fromStack(home!).hasResourceProperties("AWS::Events::Rule", {
      EventPattern: {
        detail: {
          mail: { tags: { "ses:configuration-set": ["staging-transactional-set", "staging-outreach-set"] } }
        }
      }
    })
    assert.throws(() => stacksOf({ INSTALLATION: "staging" }), /PROVIDERB_CONFIGURATION_SET is unset/)
  })

  it("gives out what a function uses also while none is made", () => {
    const exported = (change: NodeJS.ProcessEnv) =>
      Object.values(
        Template.fromStack(stacksOf(change)[0]!).toJSON()["Outputs"] as Record<string, { Export?: object }>
      )
        .flatMap(({ Export }) => (Export === undefined ? [] : [JSON.stringify(Export)]))
        .sort()
    assert.isAtLeast(exported({}).length, 3)
    assert.deepStrictEqual(exported({}), exported({ FUNCTION_CODE: STAGING.FUNCTION_CODE }))
  })
})
