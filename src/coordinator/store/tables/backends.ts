/** Backends as agents see them: what the VCLs that serve have, and which of it is sick. */
import { integer, table, text } from './table.js'

const ofAgent = () => integer().references('agents', 'cascade')

export const backendTables = {
  /** A VCL that serves on an agent, and has backends. */
  servedVcls: table(
    {
      agentId: ofAgent(),
      vcl: text(),
      /** JSON array of their names, sorted: agents that serve the same have the same text. */
      backends: text(),
      /** Those that the agent's report had no room for. */
      omittedHealthy: integer(),
      omittedSick: integer(),
    },
    { primaryKey: ['agentId', 'vcl'] },
  ),

  sickBackends: table(
    { agentId: ofAgent(), vcl: text(), backend: text(), since: integer() },
    { primaryKey: ['agentId', 'vcl', 'backend'] },
  ),
}
