/** The complete command grammar: verbs without a noun, and nouns in the order of the help. */
import { accountVerbs } from './account-verbs.js'
import { applyVerb } from './apply-verb.js'
import { completionVerbs } from './completion-verbs.js'
import { eventVerbs } from './event-verbs.js'
import { trafficVerbs } from './traffic-verbs.js'
import { exportVerb } from './export-verb.js'
import { invalidationVerbs } from './invalidation-verbs.js'
import { accounts } from './nouns/accounts.js'
import { agents } from './nouns/agents.js'
import { apiLogs } from './nouns/apilogs.js'
import { backends } from './nouns/backends.js'
import { certificates } from './nouns/certificates.js'
import { contexts } from './nouns/contexts.js'
import { deployments } from './nouns/deployments.js'
import { domains } from './nouns/domains.js'
import { files } from './nouns/files.js'
import { idps } from './nouns/idps.js'
import { invalidations } from './nouns/invalidations.js'
import { rollouts } from './nouns/rollouts.js'
import { joinTokens } from './nouns/jointokens.js'
import { organizations } from './nouns/organizations.js'
import { permissions } from './nouns/permissions.js'
import { sessions } from './nouns/sessions.js'
import { statistics } from './nouns/stats.js'
import { tags } from './nouns/tags.js'
import { users } from './nouns/users.js'
import { vclGroups } from './nouns/vclgroups.js'
import { webhooks } from './nouns/webhooks.js'
import { overviewVerb } from './overview-verb.js'
import { problemsVerb } from './problems-verb.js'
import { testVerb } from './test-verb.js'
import { upgradeVerb } from './upgrade-verb.js'
import type { Flag, Grammar } from './verb.js'
import { versionVerb } from './version-verb.js'

const globalFlags: readonly Flag[] = [
  { form: '--server <url>', summary: 'the coordinator; else CACHEFLEET_SERVER, else of the login' },
  { form: '--context <name>', summary: 'which login; else the one in use (contexts)' },
  { form: '--json', summary: "print the API's answer" },
  { form: '--csv', summary: 'print comma-separated values' },
  { form: '--verbose', summary: 'report every call on standard error' },
]

export const grammar: Grammar = {
  flags: globalFlags,
  verbs: [
    ...accountVerbs,
    overviewVerb,
    problemsVerb,
    applyVerb,
    exportVerb,
    testVerb,
    upgradeVerb,
    versionVerb,
    ...invalidationVerbs,
    ...eventVerbs,
    ...trafficVerbs,
    ...completionVerbs,
  ],
  nouns: [
    ...[agents, tags, files, deployments, domains, vclGroups, backends, certificates],
    rollouts,
    invalidations,
    ...[organizations, accounts, users, permissions, sessions, idps],
    ...[webhooks, statistics, joinTokens, apiLogs, contexts],
  ],
}
