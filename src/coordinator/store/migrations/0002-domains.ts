/** Domains, the groups that answer for them, where each of them stands, and the generated VCL that routes to them. */
import { makeStatementWriters, type Migration } from './migration.js'

export const domainTables: Migration = {
  name: '0002-domains',
  statements: (dialect) => {
    const { id, integer, text, randomKey } = dialect
    const { table, index } = makeStatementWriters(dialect)
    const column = (on: string, definition: string): string =>
      `alter table "${on}" add column ${definition}`

    return [
      table(
        'domains',
        `id ${id}`,
        `"organizationId" ${integer} references organizations`,
        `fqdn ${text} not null`,
        `"createdAt" ${integer} not null`,
        `"updatedAt" ${integer} not null`,
      ),
      `create unique index "domains_fqdn" on domains (coalesce("organizationId", 0), fqdn)`,
      index('domains_organization', 'domains ("organizationId", fqdn)'),

      table(
        'vclGroupDomains',
        `"groupId" ${integer} not null references "vclGroups" on delete cascade`,
        `"domainId" ${integer} not null references domains`,
        `position ${integer} not null`,
        `primary key ("groupId", "domainId")`,
      ),
      index('vclGroupDomains_domain', '"vclGroupDomains" ("domainId")'),

      column('vclGroups', `"cacheKey" ${text} not null default ''`),
      `update "vclGroups" set "cacheKey" = ${randomKey}`,

      column('placements', `"currentFqdns" ${text}`),
      column('placements', `"candidateFqdns" ${text}`),
      column('placements', `"previousFqdns" ${text}`),

      // A domain stands at most once on an agent, whatever decided to put it there (choices: 3).
      table(
        'placementDomains',
        `"agentId" ${integer} not null`,
        `fqdn ${text} not null`,
        `"groupId" ${integer} not null`,
        `primary key ("agentId", fqdn)`,
        `foreign key ("groupId", "agentId") references placements ("groupId", "agentId") on delete cascade`,
      ),
      index('placementDomains_place', '"placementDomains" ("groupId", "agentId")'),
      index('placementDomains_fqdn', '"placementDomains" (fqdn)'),

      table(
        'agentRoutings',
        `"agentId" ${integer} not null references agents on delete cascade`,
        `sha ${text} not null`,
        `primary key ("agentId", sha)`,
      ),
      index('agentRoutings_sha', '"agentRoutings" (sha)'),
    ]
  },
}
