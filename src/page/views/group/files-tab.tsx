/** Compares the files of the next deploy with the deployed ones. */
import type { Group, Pins } from '../../../resources/vclgroup.js'
import { FileChanges } from './file-changes.js'

export function FilesTab({ group, next }: { readonly group: Group; readonly next: Pins | null }) {
  const { wish, deployed, mainVCL, includes } = group
  return (
    <section class="panel" aria-label="Files">
      {wish && !deployed && <p class="quiet">Not deployed now. Compared with the last deploy.</p>}
      {next ? (
        <FileChanges before={wish} after={next} />
      ) : (
        <p class="quiet">
          {mainVCL?.name}
          {includes.length > 0 && ` and ${includes.length} includes`}
        </p>
      )}
    </section>
  )
}
