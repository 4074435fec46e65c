/** `/idps`: where an organization's people log in instead of here. The client secret goes in and never out. */
import { idp } from '../../resources/idp.js'
import { crudRoutes } from '../api/noun-routes.js'
import type { Route } from '../http/route.js'
import type { Identity } from './identity.js'
import { idpSchema, toIdpView } from './identity-views.js'
import { idpReading } from './idp-queries.js'
import { changeIdp, createIdp, deleteIdp, idpChangeBody, newIdpBody } from './idps.js'

export function idpRoutes(identity: Identity): readonly Route[] {
  return crudRoutes({
    service: identity.service,
    resource: idp,
    named: 'Idp',
    reading: idpReading,
    schema: idpSchema,
    view: toIdpView,
    editsUnseen: true,
    list: 'Identity providers',
    get: 'One identity provider',
    create: {
      summary: 'Sets up the identity provider of an organization, which has one',
      body: newIdpBody,
      run: (actor, body) => createIdp(identity, actor, body),
    },
    update: {
      summary:
        'Changes an identity provider; a changed baseURL forgets the clientSecret unless it is given too',
      body: idpChangeBody,
      run: (service, actor, object, body) =>
        changeIdp({ ...identity, service }, actor, object, body),
    },
    remove: {
      summary: 'Ends logging in by an identity provider; accounts that came in by it stay',
      run: deleteIdp,
    },
  })
}
