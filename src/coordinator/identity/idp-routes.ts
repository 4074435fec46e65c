/** `/idps`: the identity providers of organizations. The client secret is write-only. */
import { idp } from '../../resources/idp.js'
import { answeredAs, resourceRoutes } from '../api/resource-routes.js'
import type { Route } from '../http/route.js'
import type { Identity } from './identity.js'
import { idpReading, type IdpRecord } from './idp-queries.js'
import { changeIdp, createIdp, deleteIdp, idpBodies } from './idps.js'

export function idpRoutes(identity: Identity): readonly Route[] {
  return resourceRoutes(identity.service, {
    ...idpReading,
    ...answeredAs<typeof idp.fields, IdpRecord>(idp.fields, () => ({})),
    resource: idp,
    title: 'Idp',
    summaries: {
      list: 'Identity providers',
      create: 'Sets up the identity provider of an organization, which has one',
      get: 'One identity provider',
      update:
        'Changes an identity provider; a changed baseURL clears the clientSecret unless it is given too',
      delete: 'Ends logging in by an identity provider; accounts that came in by it stay',
    },
    bodies: idpBodies,
    // A change of the secret is visible in no other key.
    edited: { keys: ['updated'] },
    create: (service, actor, body) => createIdp({ ...identity, service }, actor, body),
    update: (service, actor, found, body) =>
      changeIdp({ ...identity, service }, actor, found, body),
    remove: deleteIdp,
  })
}
