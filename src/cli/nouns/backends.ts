/** `cachefleet backends`. */
import { backend as resource } from '../../resources/backend.js'
import { listVerb } from '../object-verbs.js'
import { toNounParts } from '../resource-noun.js'
import type { Noun } from '../verb.js'

const backend = toNounParts(resource, {
  summary: 'backends of VCL groups, and which agents see them sick; the worst first',
  example: 'backends list --filter vclGroup.name=site',
})

export const backends: Noun = {
  ...backend,
  verbs: [listVerb(backend, '--filter agents.name=edge-1', 'the worst first')],
}
