/** The controller API as a script would use it: fetch, JSON, a token. */
import { basic, callHttp, type CallAnswer } from './http-call.js'

export interface Reference {
  readonly id: number
  readonly name: string
}

export interface AgentView extends Reference {
  readonly state: number
  readonly stateName: string
  readonly engineState: string
  readonly enginePort: number
  readonly engineProduct: string
  readonly engineVersion: string
  readonly lastHeartbeat: string
  readonly tags: readonly Reference[]
  readonly capabilities: readonly string[]
  readonly drift: { readonly foreign: readonly string[]; readonly action: string } | null
  readonly config: {
    readonly desired: { readonly revision: number }
    readonly lastAttempted: { readonly revision: number; readonly error: string | null } | null
    readonly effective: { readonly revision: number }
  }
}

export interface GroupView extends Reference {
  readonly state: number
  readonly stateName: string
  readonly revision: number | null
  readonly deployed: boolean
  readonly agentStates: readonly {
    readonly agent: Reference
    readonly state: string
    readonly revision: number | null
    readonly error: string | null
  }[]
}

interface HistoryView {
  readonly revision: number | null
  readonly action: string
  readonly result: string
  readonly mainVCL: { readonly id: number; readonly version: number }
}

export interface GroupParts {
  readonly name: string
  readonly mainFile: number
  readonly includes?: readonly number[]
  readonly deployment: number
}

/** Each function that creates or reads something rejects unless the call succeeds. */
export interface ApiClient {
  readonly token: string
  call(method: string, path: string, body?: unknown): Promise<CallAnswer>
  /** POST; returns the id of the new object. */
  make(path: string, body: object): Promise<number>
  makeJoinToken(maxUses?: number): Promise<string>
  makeTag(name: string): Promise<number>
  findTag(name: string): Promise<number>
  makeFile(name: string, source: string, fileType?: number): Promise<number>
  /** Returns the new latest version. */
  editFile(id: number, source: string): Promise<number>
  makeDeployment(name: string, tag: number, limits?: { min: number; max: number }): Promise<number>
  makeGroup(parts: GroupParts): Promise<number>
  /** PUT /vclgroups/{id}/{verb}; returns any response. */
  act(groupId: number, verb: string, query?: string): Promise<CallAnswer>
  readGroup(id: number): Promise<GroupView>
  readHistory(id: number): Promise<HistoryView[]>
  listAgents(): Promise<AgentView[]>
  findAgent(name: string): Promise<AgentView | undefined>
}

export interface Login {
  readonly user: string
  readonly password: string
  /** Name of the organization, for a user of one. */
  readonly org?: string
}

export async function logIn(base: string, { user, password, org }: Login): Promise<ApiClient> {
  const headers = { authorization: basic(user, password) }
  const body = org === undefined ? undefined : { org }
  const answer = await callHttp('POST', `${base}/api/v1/auth/login`, { headers, body })
  const { accessToken } = read(answer, 200) as { accessToken: string } // Login of the API
  return createApiClient(base, accessToken)
}

function createApiClient(base: string, token: string): ApiClient {
  const call: ApiClient['call'] = (method, path, body) =>
    callHttp(method, `${base}/api/v1${path}`, { token, body })
  const get = async (path: string) => read(await call('GET', path), 200)
  const make: ApiClient['make'] = async (path, body) =>
    (read(await call('POST', path, body), 201) as Reference).id // all created objects have an id
  // The casts below match the API's schemas, which the API tests verify.
  const listAgents = async () => (await get('/agents')) as AgentView[]
  return {
    token,
    call,
    make,
    makeJoinToken: async (maxUses = 1) => {
      const answer = await call('POST', '/jointokens', { label: 'test', maxUses })
      return (read(answer, 201) as { token: string }).token
    },
    makeTag: (name) => make('/tags', { name }),
    findTag: async (name) => ((await get(`/tags?name=${name}`)) as Reference[])[0]?.id ?? 0,
    makeFile: (name, source, fileType = 1) => make('/files', { name, source, fileType }),
    editFile: async (id, source) => {
      const answer = await call('PUT', `/files/${id}`, { source })
      return (read(answer, 200) as { version: number }).version
    },
    makeDeployment: (name, tag, { min, max } = { min: 1, max: 1 }) =>
      make('/deployments', { name, min, max, tags: [{ id: tag }] }),
    makeGroup: ({ name, mainFile, includes = [], deployment }) =>
      make('/vclgroups', {
        name,
        mainVCL: { id: mainFile },
        includes: includes.map((id) => ({ id })),
        deployments: [{ id: deployment }],
      }),
    act: (groupId, verb, query = '') => call('PUT', `/vclgroups/${groupId}/${verb}${query}`),
    readGroup: async (id) => (await get(`/vclgroups/${id}`)) as GroupView,
    readHistory: async (id) => (await get(`/vclgroups/${id}/history`)) as HistoryView[],
    listAgents,
    findAgent: async (name) => (await listAgents()).find((agent) => agent.name === name),
  }
}

function read({ status, text }: CallAnswer, wanted: number): unknown {
  if (status !== wanted) throw new Error(`answered ${status}, not ${wanted}: ${text}`)
  return JSON.parse(text)
}
