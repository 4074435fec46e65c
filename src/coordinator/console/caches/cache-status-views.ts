/** Status, consistency and parameters of a cache as the console answers them (docs/behaviour.md, Console caches). */
import { Type } from 'typebox'
import type { Consistency } from './cache-consistency.js'
import type { Absence, CacheStatus } from './cache-status.js'

export const parameterSchema = Type.Object({
  value: Type.String(),
  default: Type.String(),
  unit: Type.String(),
  description: Type.String(),
})

export const parameterSetSchema = Type.Record(Type.String(), parameterSchema)

const response = {
  responseStatus: Type.Integer({ description: '200, or 503: the cache could not be asked' }),
  responseString: Type.String({ description: 'OK, or why not' }),
}

export const responseSchema = Type.Object(response)

export const statusSchema = Type.Object({
  ...response,
  ping: Type.String(),
  status: Type.String(),
  panic: Type.String(),
  paramChangeset: parameterSetSchema,
  vclList: Type.Object({
    vcls: Type.Array(
      Type.Object({ name: Type.String(), refs: Type.String(), status: Type.String() }),
    ),
  }),
})

export function toStatusView(status: CacheStatus | Absence): object {
  if ('absent' in status)
    return {
      ...toAbsence(status),
      ping: '',
      status: '',
      panic: '',
      paramChangeset: {},
      vclList: { vcls: [] },
    }
  const { ping, status: child, panic, changed, vcls } = status
  return {
    ...ok,
    ping,
    status: child,
    panic,
    paramChangeset: Object.fromEntries(changed),
    vclList: {
      vcls: vcls.map((vcl) => ({
        name: vcl.name,
        refs: String(vcl.busy ?? 0),
        status: vcl.status,
      })),
    },
  }
}

export const consistencySchema = Type.Object({
  ...response,
  vcl_name: Type.String({ description: 'The VCL in use' }),
  vcl_consistent: Type.Boolean(),
  param_changeset: parameterSetSchema,
  param_consistent: Type.Boolean(),
})

/** A cache that cannot be observed is not consistent. */
export function toConsistencyView(judged: Consistency | Absence): object {
  if ('absent' in judged)
    return {
      ...toAbsence(judged),
      vcl_name: '',
      vcl_consistent: false,
      param_changeset: {},
      param_consistent: false,
    }
  const { vclName, vclConsistent, paramChangeset } = judged
  return {
    ...ok,
    vcl_name: vclName,
    vcl_consistent: vclConsistent,
    param_changeset: Object.fromEntries(paramChangeset),
    param_consistent: paramChangeset.size === 0,
  }
}

const ok = { responseStatus: 200, responseString: 'OK' }

function toAbsence({ absent }: Absence): object {
  return { responseStatus: 503, responseString: absent }
}
