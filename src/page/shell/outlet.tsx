/** Renders the view of the address once its code is loaded. */
import { useSignal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { useEffect, useErrorBoundary, useRef } from 'preact/hooks'
import { Redirect, useLocation, useRouter } from 'wouter-preact'
import { awaySince, noteSilence, whenBack } from '../api/connection.js'
import { Button, LinkButton } from '../parts/button.js'
import { Empty } from '../parts/empty.js'
import { Loading } from '../parts/loading.js'
import { ViewHead } from '../parts/view-head.js'
import type { ViewEntry, ViewProps } from '../views.js'
import { findView, listViews, type FoundView } from './find-view.js'

/** Views already loaded are shown immediately. */
const loaded = new Map<ViewEntry, ComponentType<ViewProps>>()

export function Outlet() {
  const [path] = useLocation()
  const found = findView(path, useRouter().parser)
  const first = listViews().find(({ menu }) => menu)
  if (path === '/' && first) return <Redirect to={first.path} replace />
  if (!first) return <NothingForYou />
  if (!found) return <NothingHere home={first.path} />
  return <Loaded key={`${found.entry.path} ${found.params['id'] ?? ''}`} {...found} />
}

function Loaded({ entry, params }: FoundView) {
  const state = useSignal<'loading' | 'done' | 'failed'>('loading')
  useEffect(() => {
    if (loaded.has(entry)) return
    let isLeft = false
    entry
      .load()
      .then(({ View }) => loaded.set(entry, View))
      .then(
        () => (isLeft ? undefined : (state.value = 'done')),
        () => (isLeft ? undefined : (state.value = 'failed')),
      )
    return () => {
      isLeft = true
    }
  }, [entry])
  const bug: unknown = useErrorBoundary()[0]
  const now = state.value
  const View = loaded.get(entry)
  if (bug !== undefined) return <Broken />
  if (View) return <View params={params} />
  return now === 'failed' ? <NotLoaded /> : <Loading />
}

/** The view's file is gone because a newer coordinator serves another page, or it cannot be fetched. */
function NotLoaded() {
  useReloadOnReturn()
  return (
    <Empty icon="refresh" title="This part of the page could not be loaded">
      <p>The coordinator may have been updated, or cannot be reached.</p>
      <Button
        kind="main"
        onClick={() => {
          location.reload()
        }}
      >
        Reload
      </Button>
    </Empty>
  )
}

/** Reloading loses nothing and may fetch a newer page. Only after an outage: otherwise it could reload forever. */
function useReloadOnReturn(): void {
  const wasAway = useRef(false)
  if (awaySince.value !== null) wasAway.current = true
  useEffect(() => {
    noteSilence()
    return whenBack(() => {
      if (wasAway.current) location.reload()
    })
  }, [])
}

/** Shown for a bug in the view; the rest of the page still works. */
function Broken() {
  return (
    <Empty icon="close" title="This view has a defect and cannot be shown">
      <p>The others still work. The browser's console has the details that help to fix it.</p>
    </Empty>
  )
}

function NothingForYou() {
  return (
    <>
      <ViewHead title="Welcome" />
      <Empty icon="administration" title="There is nothing that you may see yet">
        <p>An administrator of your organization can give you permissions; then log in again.</p>
      </Empty>
    </>
  )
}

function NothingHere({ home }: { readonly home: string }) {
  return (
    <>
      <ViewHead title="Nothing here" />
      <Empty icon="search" title="There is nothing at this address">
        <p>It may be mistyped, or you may not be allowed to see it.</p>
        <LinkButton href={home}>Go to the start</LinkButton>
      </Empty>
    </>
  )
}
