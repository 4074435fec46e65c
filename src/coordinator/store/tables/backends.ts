/** Backends as agents report them: the backends of the serving VCLs, and the sick ones. */
import { integer, table, text } from './table.js'

const ofAgent = () => integer().references('agents', 'cascade')

export const backendTables = {
  /** A VCL with backends that serves on an agent. */
  servedVcls: table(
    {
      agentId: ofAgent(),
      vcl: text(),
      /** JSON array of their names, sorted: agents that serve the same backends have equal texts. */
      backends: text(),
      /** Number of backends that did not fit in the agent's report. */
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
