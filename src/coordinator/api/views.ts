/** What the API answers: one schema and one function for each resource, and nothing else knows these shapes. */
import { Type } from 'typebox'
import { agentStateName, agentStates } from '../../resources/agent-state.js'
import {
  idSchema,
  managedBySchema,
  orNull,
  organizationSchema,
  referenceSchema,
  timeSchema,
} from './references.js'
import type { AgentRecord } from '../agents/agents.js'
import type { AgentDetails } from '../agents/unlock-agents.js'
import type { DeploymentView } from '../deployments/deployments.js'
import type { DomainRecord } from '../domains/domains.js'
import type { JoinTokenRecord } from '../registration/join-tokens.js'
import type { TagRecord } from '../tags/tags.js'
import type { FileVersionRecord } from '../files/file-versions.js'
import type { FileRecord } from '../files/files.js'
import { differenceSchema } from '../agents/unlock-views.js'

const closed = { additionalProperties: false }

const tagFields = {
  id: idSchema,
  name: Type.String(),
  static: Type.Boolean({ description: 'An agent sends it; of an agent: this agent sends it' }),
  created: timeSchema,
  updated: timeSchema,
}

export const tagSchema = Type.Object(
  { ...tagFields, organization: organizationSchema, managedBy: managedBySchema },
  closed,
)

export function toTagView(tag: TagRecord) {
  return {
    id: tag.id,
    name: tag.name,
    static: tag.static,
    organization: tag.organization,
    managedBy: tag.managedBy,
    ...toTimes(tag),
  }
}

const revisionSchema = Type.Object({ revision: orNull(Type.Integer()) }, closed)

export const agentSchema = Type.Object(
  {
    id: idSchema,
    name: Type.String(),
    organization: organizationSchema,
    state: Type.Enum(Object.values(agentStates), {
      description: '1 Running, 2 Failing (agent up, cache not), 3 Down, 4 ReadOnly, 5 Locked',
    }),
    stateName: Type.String(),
    lockedBecause: orNull(Type.String()),
    engineState: orNull(
      Type.String({ description: 'running, stopped, unreachable or unknown; null: Down' }),
    ),
    lastEngineState: orNull(
      Type.String({ description: 'Of a Down agent: the engineState that it told last' }),
    ),
    engineError: orNull(Type.String()),
    engineHost: Type.String(),
    enginePort: Type.Integer(),
    engineVersion: Type.String(),
    agentVersion: Type.String(),
    tags: Type.Array(Type.Object(tagFields, closed)),
    config: Type.Object(
      {
        desired: revisionSchema,
        lastAttempted: Type.Object(
          {
            revision: orNull(Type.Integer()),
            result: orNull(Type.String({ description: 'applied, failed or refused' })),
            error: orNull(Type.String()),
            at: orNull(timeSchema),
          },
          closed,
        ),
        effective: revisionSchema,
        difference: differenceSchema,
      },
      closed,
    ),
    drift: orNull(
      Type.Object(
        {
          at: timeSchema,
          foreign: Type.Array(Type.String()),
          action: Type.String(),
          healedAt: orNull(timeSchema),
        },
        { ...closed, description: 'The last change from outside that was undone' },
      ),
    ),
    adoption: orNull(
      Type.Object(
        {
          at: timeSchema,
          result: Type.Enum(['adopted', 'refused']),
          error: orNull(
            Type.String({ description: 'Why it was refused, or is not in the --adopt-group' }),
          ),
          group: orNull(referenceSchema),
          difference: orNull(
            Type.String({
              description:
                'Of one agent alone: what it adopted against the --adopt-group, as unified text of at most 64 KiB',
            }),
          ),
        },
        { ...closed, description: 'What became of the VCL that the cache ran when the agent came' },
      ),
    ),
    lastHeartbeat: timeSchema,
    lastStateChange: timeSchema,
    created: timeSchema,
    updated: timeSchema,
  },
  closed,
)

/** In lists and events. */
const noDetails: AgentDetails = { difference: null, adoptionDifference: null }

/** `whole`: false for an organization that only shares the agent; what names other organizations' objects is left out. */
export function toAgentView(
  agent: AgentRecord,
  whole: boolean,
  { difference, adoptionDifference } = noDetails,
) {
  const isDown = agent.state === agentStates.Down
  return {
    id: agent.id,
    name: agent.name,
    organization: agent.organization,
    state: agent.state,
    stateName: agentStateName(agent.state),
    lockedBecause: agent.lockedBecause,
    engineState: isDown ? null : agent.engineState,
    lastEngineState: isDown ? agent.engineState : null,
    engineError: agent.engineError,
    engineHost: agent.engineHost,
    enginePort: agent.enginePort,
    engineVersion: agent.engineVersion,
    agentVersion: agent.agentVersion,
    tags: agent.tags.map(({ id, name, static: isStatic, ...times }) => ({
      id,
      name,
      static: isStatic,
      ...toTimes(times),
    })),
    config: {
      desired: { revision: agent.desiredRevision },
      lastAttempted: toAttemptView(whole ? agent.attempted : null),
      effective: { revision: agent.effectiveRevision },
      difference,
    },
    drift: whole ? agent.drift : null,
    adoption: whole ? toAdoptionView(agent, adoptionDifference) : null,
    lastHeartbeat: toIso(agent.lastHeartbeatAt),
    lastStateChange: toIso(agent.lastStateChangeAt),
    ...toTimes(agent),
  }
}

function toAttemptView(attempted: AgentRecord['attempted']) {
  const { revision = null, result = null, error = null } = attempted ?? {}
  return { revision, result, error, at: attempted && toIso(attempted.at) }
}

function toAdoptionView({ adoption }: AgentRecord, difference: string | null) {
  if (!adoption) return null
  const { at, result, error, group } = adoption
  return { at, result, error, group, difference }
}

const fileFields = {
  id: idSchema,
  name: Type.String(),
  organization: organizationSchema,
  contentType: Type.String(),
  encoded: Type.Boolean({ description: 'The source is base64' }),
  fileType: Type.Integer({ description: '1 main, 2 include, 3 other' }),
  sha: Type.String({
    description: 'SHA-256 (hex) over the decoded bytes, in literal double quotes',
    pattern: '^"[0-9a-f]{64}"$',
  }),
  version: Type.Integer({ minimum: 1 }),
  managedBy: managedBySchema,
  created: timeSchema,
  updated: timeSchema,
}
const sourceSchema = Type.String({ description: 'VCL text, or base64 when encoded' })

/** As lists have it: without the source. */
export const fileSchema = Type.Object(fileFields, closed)
export const wholeFileSchema = Type.Object({ ...fileFields, source: sourceSchema }, closed)

export function toFileView(file: FileRecord) {
  return {
    id: file.id,
    name: file.name,
    organization: file.organization,
    contentType: file.contentType,
    encoded: file.encoded,
    fileType: file.fileType,
    sha: `"${file.sha}"`,
    version: file.version,
    managedBy: file.managedBy,
    ...toTimes(file),
  }
}

export function toWholeFileView(file: FileRecord & { readonly source: string }) {
  return { ...toFileView(file), source: file.source }
}

const versionFields = {
  version: Type.Integer({ minimum: 1 }),
  contentType: Type.String(),
  encoded: Type.Boolean(),
  sha: fileFields.sha,
  account: Type.String({ description: 'Who made it' }),
  created: timeSchema,
}

export const versionSchema = Type.Object(versionFields, closed)
export const wholeVersionSchema = Type.Object({ ...versionFields, source: sourceSchema }, closed)

export function toVersionView(version: Omit<FileVersionRecord, 'source'>) {
  return {
    version: version.version,
    contentType: version.contentType,
    encoded: version.encoded,
    sha: `"${version.sha}"`,
    account: version.account,
    created: toIso(version.createdAt),
  }
}

export const deploymentSchema = Type.Object(
  {
    id: idSchema,
    name: Type.String(),
    organization: organizationSchema,
    min: Type.Integer({ minimum: 1 }),
    max: Type.Integer({ minimum: 1 }),
    tags: Type.Array(referenceSchema),
    state: Type.Integer({
      description: '1 Active, 2 Inactive, 3 Degraded, 4 Error, 5 Orphan, 6 Deploying',
    }),
    stateName: Type.String(),
    agents: Type.Array(referenceSchema, { description: 'Where groups are placed by it' }),
    managedBy: managedBySchema,
    created: timeSchema,
    updated: timeSchema,
  },
  closed,
)

/** What stands in its own row. */
export function toDeploymentFields(deployment: DeploymentView['deployment']) {
  return {
    id: deployment.id,
    name: deployment.name,
    organization: deployment.organization,
    min: deployment.min,
    max: deployment.max,
    tags: deployment.tags,
    managedBy: deployment.managedBy,
    ...toTimes(deployment),
  }
}

export function toDeploymentView({ deployment, state, stateName, agents }: DeploymentView) {
  return { ...toDeploymentFields(deployment), state, stateName, agents }
}

export const domainSchema = Type.Object(
  {
    id: idSchema,
    fqdn: Type.String({ description: 'Lower case, ASCII; *. before it: all names below' }),
    organization: organizationSchema,
    managedBy: managedBySchema,
    created: timeSchema,
    updated: timeSchema,
  },
  closed,
)

export function toDomainView(domain: DomainRecord) {
  return {
    id: domain.id,
    fqdn: domain.fqdn,
    organization: domain.organization,
    managedBy: domain.managedBy,
    ...toTimes(domain),
  }
}

export const joinTokenSchema = Type.Object(
  {
    id: idSchema,
    label: Type.String(),
    organization: organizationSchema,
    expires: orNull(Type.Integer({ description: 'Epoch seconds; null: never' })),
    maxUses: Type.Integer({ minimum: 1 }),
    uses: Type.Integer({ minimum: 0 }),
    tags: Type.Array(referenceSchema),
    created: timeSchema,
  },
  closed,
)

export function toJoinTokenView(token: JoinTokenRecord) {
  return {
    id: token.id,
    label: token.label,
    organization: token.organization,
    expires: token.expiresAt === null ? null : Math.floor(token.expiresAt / 1000),
    maxUses: token.maxUses,
    uses: token.uses,
    tags: token.tags,
    created: toIso(token.createdAt),
  }
}

export function toTimes(times: { readonly createdAt: number; readonly updatedAt: number }) {
  return { created: toIso(times.createdAt), updated: toIso(times.updatedAt) }
}

/** Printing a time costs ten times what finding it does, and the same few times are printed again and again. */
const printedTimes = new Map<number, string>()
const printedTimesMost = 20_000

/** Milliseconds since 1970, as the API writes times. */
export function toIso(at: number): string {
  const known = printedTimes.get(at)
  if (known !== undefined) return known
  if (printedTimes.size >= printedTimesMost) printedTimes.clear()
  const printed = new Date(at).toISOString()
  printedTimes.set(at, printed)
  return printed
}
