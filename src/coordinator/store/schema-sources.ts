/** The tables of flattened VCL texts. Forms as in `schema.ts`, which lists all tables. */

/** Flattened texts by their SHA-256; deleted when no placement, wish or history entry names them. */
export interface SourcesTable {
  sha: string
  text: string
  /** JSON of the source map: flattened line → file and line. */
  sourceMap: string
  /** Counts the loads of this text: the `n` in `cf-<group id>-<sha8>-<n>`. */
  loads: number
  createdAt: number
}

/** For a while an agent may fetch a source that its desired state does not name. */
export interface SourceGrantsTable {
  agentId: number
  sha: string
  expiresAt: number
}

/** The generated VCLs that an agent's desired state names, so that unused sources are found. */
export interface AgentRoutingsTable {
  agentId: number
  sha: string
}
