/** The controller API (`/api/v1`, Bearer): the routes of all resources, who may call, the api log. */
import type { Api } from '../http/api.js'
import { readToken } from '../http/credentials.js'
import type { Route } from '../http/route.js'
import type { Authenticator } from '../identity/authenticate.js'
import type { Identity } from '../identity/identity.js'
import { certificateRoutes } from '../certificates/certificate-routes.js'
import { unauthenticated } from '../identity/sessions.js'
import { accountRoutes } from '../identity/account-routes.js'
import { authRoutes } from '../identity/auth-routes.js'
import { oidcRoutes } from '../identity/oidc-routes.js'
import { describeError } from './error-body.js'
import { idpRoutes } from '../identity/idp-routes.js'
import { organizationRoutes } from '../identity/organization-routes.js'
import { permissionRoutes } from '../identity/permission-routes.js'
import { sessionRoutes } from '../identity/session-routes.js'
import { userRoutes } from '../identity/user-routes.js'
import { webhookRoutes } from '../webhooks/webhook-routes.js'

interface ControllerParts {
  readonly identity: Identity
  readonly authenticator: Authenticator
  readonly onAnswered: NonNullable<Api['onAnswered']>
  /** How browsers and identity providers reach this service: `https://fleet.example.com`. */
  readonly readBaseUrl: () => string
  /** The routes of the resources; those about who may do what come from here. */
  readonly resources: readonly Route[]
}

export function createControllerApi(parts: ControllerParts): Api {
  const { identity, authenticator, onAnswered, readBaseUrl, resources } = parts
  return {
    name: 'controller',
    prefix: '/api/v1',
    routes: [
      ...authRoutes(identity),
      ...oidcRoutes(identity, readBaseUrl),
      ...sessionRoutes(identity),
      ...organizationRoutes(identity.service),
      ...accountRoutes(identity),
      ...userRoutes(identity.service),
      ...permissionRoutes(identity.service),
      ...idpRoutes(identity),
      ...certificateRoutes(identity),
      ...webhookRoutes(identity),
      ...resources,
    ],
    authenticate: ({ headers, sourceAddress }) => {
      const token = readToken(headers, 'bearer')
      if (token === undefined)
        return Promise.reject(
          unauthenticated('this call needs "Authorization: Bearer <access token>"'),
        )
      return authenticator.authenticate(token, sourceAddress)
    },
    describeError,
    onAnswered,
  }
}
