/** What the documents contain about each API beside its routes: how to call it, its errors, the form of its ids. */
import { describeApi } from '../http/openapi.js'
import type { Route } from '../http/route.js'

export interface DocumentedApi {
  readonly prefix: string
  readonly routes: readonly Route[]
}

const basic = { type: 'http', scheme: 'basic' }

export function describeController({ prefix, routes }: DocumentedApi, version: string): object {
  const info = {
    title: 'cachefleet controller API',
    version,
    description:
      'Deploys VCL to fleets of HTTP caches. Log in with POST /auth/login and send the access token as ' +
      '`Authorization: Bearer`. Every answer has an `X-Trace-Id`.',
    prefix,
    securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' }, basic },
    required: ['bearer'],
    ofPublic: { '/auth/login': ['basic'] },
    errorSchema: {
      type: 'object',
      required: ['traceId', 'errorKey', 'errorMsg'],
      properties: {
        traceId: { type: 'string', description: 'stands in the log lines of all processes' },
        errorKey: { type: 'string', description: 'scope of the error' },
        errorMsg: { type: 'string', description: 'for people' },
        message: { type: 'string', description: 'of an unknown path: as errorMsg' },
      },
    },
    describeParameter: (name: string) =>
      name === 'id' ? { type: 'integer', minimum: 1 } : { type: 'string' },
    moreRefusals: () => [],
  }
  return describeApi(info, routes)
}

export function describeConsole({ prefix, routes }: DocumentedApi, version: string): object {
  const info = {
    title: 'cachefleet console API',
    version,
    description:
      'Instances, groups, bans, statistics and management commands of caches. Send a name and a password with each call ' +
      '(HTTP basic), or log in with POST /api/rest/login and send its cookie. While the grace of an expired license lasts, every ' +
      'answer has the header `X-CONSOLE-GRACE-LEFT: N day(s) left`.',
    prefix,
    securitySchemes: { basic, session: { type: 'apiKey', in: 'cookie', name: 'JSESSIONID' } },
    required: ['basic', 'session'],
    ofPublic: { '/rest/logout': ['session'], '/rest/checkcookie': ['session'] },
    errorSchema: {
      type: 'object',
      required: ['message'],
      properties: { message: { type: 'string', description: 'for people' } },
    },
    describeParameter: describeConsoleParameter,
    moreRefusals: ({ permission, needsNoLicense }: Route) => [
      ...(permission === 'public' || needsNoLicense === true ? [] : [402]),
      405,
    ],
  }
  return describeApi(info, routes)
}

/** `id`, `cacheId`, `vclId` …: all ids of the console have one form. */
function describeConsoleParameter(name: string): object {
  if (/^id$|Id$/.test(name)) return { type: 'string', pattern: '^[0-9a-f]{24}$' }
  if (name === 'page') return { type: 'integer', minimum: 1 }
  if (name === 'items') return { type: 'integer', minimum: 1, maximum: 1000 }
  return { type: 'string' }
}
