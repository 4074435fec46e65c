/** What a text includes, as it stands in the editor: each leads to its file. */
import { useSignal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { Link } from 'wouter-preact'
import type { FleetFile } from '../../../resources/file.js'
import { findByNames } from './check.js'
import { readIncludes } from './read-includes.js'

/** Who types is left alone. */
const settleMs = 400

export function Includes({ file, text }: { readonly file: FleetFile; readonly text: string }) {
  const found = useSignal<ReadonlyMap<string, FleetFile> | null>(null)
  const names = useMemo(() => readIncludes(text), [text])
  const key = JSON.stringify(names)
  useEffect(() => {
    let isLeft = false
    const asking = setTimeout(() => {
      void findByNames(file, names).then((files) => {
        if (!isLeft) found.value = new Map(files.map((one) => [one.name, one]))
      })
    }, settleMs)
    return () => {
      isLeft = true
      clearTimeout(asking)
    }
  }, [file.id, key])

  return (
    <section class="panel" aria-labelledby="file-includes">
      <h2 id="file-includes">Includes</h2>
      {names.length === 0 && <p class="quiet">Nothing.</p>}
      {names.length > 0 && (
        <ul class="plain-list">
          {names.map((name) => (
            <li key={name}>
              <Included name={name} file={found.value?.get(name)} isKnown={found.value !== null} />
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

function Included(props: {
  readonly name: string
  readonly file: FleetFile | undefined
  readonly isKnown: boolean
}) {
  const { name, file, isKnown } = props
  if (file) return <Link href={`/files/${file.id}`}>{name}</Link>
  return (
    <>
      {name}
      {isKnown && <span class="quiet"> (no file here; a cache may have it)</span>}
    </>
  )
}
