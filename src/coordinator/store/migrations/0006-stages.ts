/**
 * Stages of groups: what is staged, what it refers to, and its places beside those of the group. Neither database changes
 * a key of several columns in place alike, so the two tables of places are made anew.
 */
import { makeStatementWriters, type Migration } from './migration.js'

export const stageTables: Migration = {
  name: '0006-stages',
  statements: (dialect) => {
    const { integer, text } = dialect
    const { table, index } = makeStatementWriters(dialect)
    const group = `"groupId" ${integer} not null references "vclGroups"`
    const owner = `"organizationId" ${integer} references organizations`
    const kept = [
      '"groupId", "agentId", "organizationId", "deploymentId", position, state, "wantedRevision"',
      '"appliedRevision", "currentName", "currentSha", "candidateName", "candidateSha"',
      '"candidateState", "previousName", "previousSha", error, "deployedAt", "currentFqdns"',
      '"candidateFqdns", "previousFqdns", "keptDown"',
    ].join(', ')

    return [
      table(
        'stages',
        `${group} on delete cascade primary key`,
        owner,
        `revision ${integer} not null`,
        `sources ${text} not null`,
        `sha ${text} not null`,
        `"stagedAt" ${integer} not null`,
      ),
      index('stages_organization', 'stages ("organizationId")'),

      // What must not be deleted while it is staged, or being staged.
      table(
        'stageUses',
        `${group} on delete cascade`,
        `"tagId" ${integer} references tags`,
        `"fileId" ${integer} references files`,
        `"domainId" ${integer} references domains`,
      ),
      index('stageUses_group', '"stageUses" ("groupId")'),
      index('stageUses_tag', '"stageUses" ("tagId")'),
      index('stageUses_file', '"stageUses" ("fileId")'),
      index('stageUses_domain', '"stageUses" ("domainId")'),

      table(
        'placesAnew',
        group,
        `"agentId" ${integer} not null references agents on delete cascade`,
        owner,
        `"deploymentId" ${integer} references deployments`,
        `position ${integer} not null`,
        `state ${text} not null`,
        `"wantedRevision" ${integer} not null`,
        `"appliedRevision" ${integer}`,
        `"currentName" ${text}`,
        `"currentSha" ${text}`,
        `"candidateName" ${text}`,
        `"candidateSha" ${text}`,
        `"candidateState" ${text}`,
        `"previousName" ${text}`,
        `"previousSha" ${text}`,
        `error ${text}`,
        `"deployedAt" ${integer}`,
        `"currentFqdns" ${text}`,
        `"candidateFqdns" ${text}`,
        `"previousFqdns" ${text}`,
        `"keptDown" ${integer} not null`,
        `stage ${integer} not null`,
        `leaving ${integer} not null`,
        `primary key ("groupId", "agentId", stage)`,
      ),
      `insert into "placesAnew" (${kept}, stage, leaving) select ${kept}, 0, 0 from placements`,
      table(
        'placeDomainsAnew',
        `"agentId" ${integer} not null`,
        `fqdn ${text} not null`,
        `"groupId" ${integer} not null`,
        `stage ${integer} not null`,
        `primary key ("agentId", fqdn)`,
        `foreign key ("groupId", "agentId", stage) references "placesAnew" ("groupId", "agentId", stage) on delete cascade`,
      ),
      `insert into "placeDomainsAnew" ("agentId", fqdn, "groupId", stage)
        select "agentId", fqdn, "groupId", 0 from "placementDomains"`,
      `drop table "placementDomains"`,
      `drop table placements`,
      `alter table "placesAnew" rename to placements`,
      `alter table "placeDomainsAnew" rename to "placementDomains"`,
      index('placements_agent', 'placements ("agentId")'),
      index('placements_deployment', 'placements ("deploymentId")'),
      index('placementDomains_place', '"placementDomains" ("groupId", stage, "agentId")'),
      index('placementDomains_fqdn', '"placementDomains" (fqdn)'),
    ]
  },
}
