/**
 * `/v1/license`: what the license allows, and its upload; available even while the console may not be used (docs/behaviour.md,
 * Console license).
 */
import { Type } from 'typebox'
import type { LicenseState } from './read-license.js'
import { route, type Answer, type Route } from '../http/route.js'
import type { LicenseStatus, Licensing } from './license.js'

const errorKey = 'license'

const states = ['off', 'missing', 'valid', 'grace', 'expired', 'too many caches'] as const

const integerOrNull = [Type.Integer(), Type.Null()]

export const licenseSchema = Type.Object({
  state: Type.Enum(states, { description: 'off: no license is checked' }),
  name: Type.Union([Type.String(), Type.Null()], { description: 'whose it is' }),
  expires: Type.Union(integerOrNull, { description: 'seconds since 1970' }),
  graceDays: Type.Union(integerOrNull, { description: 'how long the console works on afterwards' }),
  maxCaches: Type.Union(integerOrNull),
  graceDaysLeft: Type.Union(integerOrNull, { description: 'in grace only' }),
})

/** The header name of older consoles. */
const graceHeader = 'x-console-grace-left'

export function licenseRoutes(licensing: Licensing): readonly Route[] {
  const answer = (status: LicenseStatus): Answer => ({
    status: 200,
    body: toLicenseView(status),
  })
  return [
    route({
      method: 'GET',
      path: '/v1/license',
      operationId: 'getLicense',
      summary: 'What the license allows now',
      errorKey,
      permission: { console: 'read' },
      needsNoLicense: true,
      answers: { 200: licenseSchema },
      handle: async () => answer(await licensing.read()),
    }),
    route({
      method: 'POST',
      path: '/v1/license/upload',
      operationId: 'uploadLicense',
      summary: 'Replaces the license: the system administrator only',
      errorKey,
      permission: { console: 'administer' },
      needsNoLicense: true,
      bodyTypes: ['text'],
      textKey: 'license',
      body: Type.Object({
        license: Type.String({ description: 'compact JWS, signed with EdDSA' }),
      }),
      answers: { 200: licenseSchema },
      handle: async ({ actor, body }) => answer(await licensing.upload(actor, body.license)),
    }),
  ]
}

/** Sent with every response during the grace period. */
export function graceHeaders(state: LicenseState): Readonly<Record<string, string>> {
  return state.kind === 'grace' ? { [graceHeader]: `${state.daysLeft} day(s) left` } : {}
}

function toLicenseView({ license, state }: LicenseStatus): object {
  return {
    state: state.kind,
    name: license?.name ?? null,
    expires: license?.expires ?? null,
    graceDays: license?.graceDays ?? null,
    maxCaches: license?.maxCaches ?? null,
    graceDaysLeft: state.kind === 'grace' ? state.daysLeft : null,
  }
}
