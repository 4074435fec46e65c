/** Parameters and backend health that were set through the API: desired state of one agent. */
import { makeStatementWriters, type Migration } from './migration.js'

export const engineSettingTables: Migration = {
  name: '0004-engine-settings',
  statements: (dialect) => {
    const { integer, text } = dialect
    const { table } = makeStatementWriters(dialect)
    const agent = `"agentId" ${integer} not null references agents on delete cascade`

    return [
      table(
        'agentParams',
        agent,
        `name ${text} not null`,
        `value ${text} not null`,
        `primary key ("agentId", name)`,
      ),

      table(
        'agentBackends',
        agent,
        `"organizationId" ${integer} references organizations on delete cascade`,
        `"groupId" ${integer} references "vclGroups" on delete cascade`,
        `backend ${text} not null`,
        `health ${text} not null`,
      ),
      `create unique index "agentBackends_rule" on "agentBackends"
        ("agentId", backend, coalesce("organizationId", 0), coalesce("groupId", 0))`,
      `create index "agentBackends_organization" on "agentBackends" ("organizationId")`,
      `create index "agentBackends_group" on "agentBackends" ("groupId")`,
    ]
  },
}
