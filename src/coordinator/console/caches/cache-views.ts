/** A cache as the console answers it (docs/behaviour.md, Console caches). */
import { Type } from 'typebox'
import { composeCacheName, readCacheHost, readDashN } from '../../../resources/cache-name.js'
import { toObjectId } from '../../../resources/object-id.js'
import type { ConsoleCache } from './caches.js'
import { toConsoleTime } from '../console-time.js'

export const cacheSchema = Type.Object({
  id: Type.String(),
  name: Type.String({
    description: '<agentHost>:<agentPort>_<dash_n>, unless it was given another',
  }),
  agentHost: Type.String(),
  agentPort: Type.Integer(),
  agentUsername: Type.String(),
  agentPassword: Type.String({ description: 'always a mask: agents have keys, not passwords' }),
  dash_n: Type.String(),
  description: Type.String(),
  groupId: Type.Union([Type.String(), Type.Null()]),
  groupName: Type.String(),
  engineName: Type.String(),
  engineRevision: Type.String(),
  engineVersion: Type.String(),
  status: Type.String(),
  version: Type.String(),
  created: Type.String(),
  timestamp: Type.String(),
  agentId: Type.Integer(),
  agentName: Type.String(),
})

const defaultGroup = 'default'

export function toCacheView({ agent, group }: ConsoleCache) {
  return {
    id: toObjectId('cache', agent.id),
    name: agent.consoleName ?? composeCacheName(agent),
    agentHost: readCacheHost(agent),
    agentPort: agent.enginePort,
    agentUsername: agent.name,
    agentPassword: '********',
    dash_n: readDashN(agent),
    description: agent.description,
    groupId: group && toObjectId('group', group.id),
    groupName: group?.name ?? defaultGroup,
    engineName: agent.engineProduct,
    engineRevision: agent.engineRevision,
    engineVersion: agent.engineVersion,
    status: agent.engineState,
    version: agent.agentVersion,
    created: toConsoleTime(agent.createdAt),
    timestamp: toConsoleTime(agent.updatedAt),
    agentId: agent.id,
    agentName: agent.name,
  }
}
