import { App, BootstraplessSynthesizer, CfnOutput, Stack } from "aws-cdk-lib"

import { alarmTopic, logAlarms } from "./alarms.ts"
import { functionResources } from "./function.ts"
import { mailResources } from "./mail.ts"
import { batchRole, callerPolicy, functionPolicy } from "./permissions.ts"
import type { Plan } from "./plan.ts"
import { buckets, deferQueue } from "./stores.ts"

/** A stack without assets: it needs no bootstrapped account, and its template can be applied by any tool. */
const stackIn = (app: App, stackName: string, region: string, description: string) =>
  new Stack(app, stackName, {
    stackName,
    description,
    env: { region },
    synthesizer: new BootstraplessSynthesizer(),
    tags: { service: "postlane" }
  })

/** What a stack's outputs say it is for: another domain or address is another installation. */
export const standsFor = (sender: string, baseUrl: string) => ({ SenderDomain: sender, BaseUrl: baseUrl })

/** The cloud side, written to `outdir`: one stack, and one more for mail where Amazon SES is used in another region. */
export const cloudApp = (plan: Plan, outdir: string): App => {
  const { cloud, conversion, domains, http, providerB } = plan.settings
  const { prefix } = plan.names
  const app = new App({ analyticsReporting: false, outdir })
  const home = stackIn(app, prefix, cloud.region, "Postlane: queue, objects, alarms, permissions")
  const add = alarmTopic(home, plan.alertEmail)

  if (providerB.region === cloud.region) mailResources(home, plan, add)
  else {
    const mail = stackIn(app, `${prefix}-mail`, providerB.region, "Postlane: sending through Amazon SES")
    mailResources(mail, plan, alarmTopic(mail, plan.alertEmail))
  }

  const { dead, queue } = deferQueue(home, plan, add)
  const { batch, files, mails } = buckets(home, plan)
  logAlarms(home, add, plan.names)
  const modelId = conversion.model.id
  for (const [name, value] of Object.entries(standsFor(domains.sender, http.baseUrl)))
    new CfnOutput(home, name, { value })
  const used = {
    names: plan.names,
    mailRegion: providerB.region,
    sender: domains.sender,
    configurationSets: [plan.configurationSet, providerB.outreachConfigurationSet],
    queue,
    deadLetters: dead,
    buckets: [files, batch, mails].filter((one) => one !== undefined),
    modelId,
    batchRole: batch === undefined ? undefined : batchRole(home, batch, modelId)
  }
  callerPolicy(home, used)
  const policy = functionPolicy(home, {
    ...used,
    buckets: [files, mails].filter((one) => one !== undefined)
  })
  // Also while there is no function: CloudFormation keeps no stack from being applied that gives out less than another one uses.
  for (const value of [queue.queueUrl, queue.queueArn, policy.managedPolicyArn]) home.exportValue(value)
  if (plan.code !== undefined) {
    const stack = stackIn(
      app,
      `${prefix}-function`,
      cloud.region,
      "Postlane: requests and retries as a function"
    )
    functionResources(stack, { ...plan, code: plan.code }, { queue, policy })
  }
  return app
}
