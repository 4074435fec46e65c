/** A table column with the name of a cache, linked for users who may read caches. */
import { Link } from 'wouter-preact'
import type { Reference } from '../../resources/resource.js'
import { mayRead } from '../session/rights.js'
import type { Column } from './table.js'

export function cacheColumn<T>(cacheOf: (row: T) => Reference): Column<T> {
  return {
    title: 'Cache',
    show: (row) => {
      const { id, name } = cacheOf(row)
      if (!mayRead('agent')) return name
      return (
        <Link href={`/caches/${id}`} class="cache-link">
          {name}
        </Link>
      )
    },
    sortBy: (row) => cacheOf(row).name,
  }
}
