/** `/certificates`: certificates for caches with a TLS listener; `deploy` and `rollback` put them on the caches. */
import { Type } from 'typebox'
import { certificate } from '../../resources/certificate.js'
import { newTraceId } from '../../context.js'
import { resourceRoutes } from '../api/resource-routes.js'
import { readWait, waitSchema } from '../api/wait.js'
import { route, type Route } from '../http/route.js'
import { scopeOf } from '../service.js'
import { certificateReading, type CertificateRecord } from './certificate-queries.js'
import { certificateSchema, toCertificateFields, toCertificateView } from './certificate-view.js'
import {
  certificateBodies,
  certificateListing,
  createCertificate,
  updateCertificate,
  viewCertificate,
  viewCertificateAgain,
  type CertificateTools,
} from './certificates.js'
import { deleteCertificate, deployCertificate } from './deploy-certificate.js'

export function certificateRoutes(tools: CertificateTools): readonly Route[] {
  const { service } = tools
  return [
    ...resourceRoutes(service, {
      resource: certificate,
      title: 'Certificate',
      summaries: {
        list: 'Certificates with their domains, when they expire, and the agents that have them',
        create: 'Stores a certificate and its key, sealed; does not deploy it',
        get: 'One certificate',
        update: 'Changes a certificate; it takes effect at its next deploy',
        delete: 'Deletes a certificate; caches stop serving it',
      },
      listing: certificateListing,
      listed: certificateSchema,
      toListed: toCertificateView,
      find: certificateReading.find,
      toEdited: toCertificateFields,
      // A new key requires a new certificate, which changes the fingerprint.
      edited: { keys: ['fingerprint'] },
      bodies: certificateBodies,
      answer: certificateSchema,
      view: viewCertificate,
      toAnswer: toCertificateView,
      create: (inside, actor, body) =>
        createCertificate({ ...tools, service: inside }, actor, body),
      update: (inside, actor, found, body) =>
        updateCertificate({ ...tools, service: inside }, actor, found, body),
      remove: (inside, found) => deleteCertificate(inside, newTraceId(), found),
    }),
    verb(tools, 'deploy', {
      summary: 'Deploys the certificate in two phases: all agents load it, then all serve it',
      isRollback: false,
    }),
    verb(tools, 'rollback', {
      summary: 'Deploys the chain and key that were served before these',
      isRollback: true,
    }),
  ]
}

const waitQuery = Type.Object({ wait: Type.Optional(waitSchema) }, { additionalProperties: false })

function verb(
  { service }: CertificateTools,
  name: 'deploy' | 'rollback',
  { summary, isRollback }: { readonly summary: string; readonly isRollback: boolean },
): Route {
  return route<never, typeof waitQuery, CertificateRecord, unknown>({
    method: 'PUT',
    path: `${certificate.path}/{id}/${name}`,
    operationId: `${name}Certificate`,
    summary,
    errorKey: 'deploy',
    permission: { type: 'certificate', access: 'write' },
    find: (_, actor, id) => certificateReading.find(service.store.queries, scopeOf(actor), id),
    query: waitQuery,
    answers: { 200: certificateSchema, 202: certificateSchema },
    handle: async ({ context, actor, object, query }) => {
      const request = { actor, id: object.id, waitMs: readWait(query.wait), isRollback }
      const isDone = await deployCertificate(service, context, request)
      const view = await viewCertificateAgain(service, actor, object.id)
      return { status: isDone ? 200 : 202, body: toCertificateView(view) }
    },
  })
}
