/** Which commands and objects the typed text finds. */
import fc from 'fast-check'
import t from 'tap'
import {
  composePattern,
  filterCommands,
  listOfObject,
  readName,
} from '../../src/page/commands/list-commands.js'

const group = { path: '/vclgroups', field: 'name', kind: 'Group', view: '/groups' } as const
const tag = { path: '/tags', field: 'name', kind: 'Tag', view: '/tags' } as const
const all = { deploys: true, clears: true, graphs: true }

void t.test('the name follows the verb', (t) => {
  t.equal(readName(' deploy shop'), 'shop')
  t.equal(readName('Clear cache of www shop '), 'www shop')
  t.equal(readName('graphs'), 'graphs')
  t.equal(readName('deployer'), 'deployer')
  t.end()
})

void t.test('a pattern matches upper and lower case, and escapes wildcards in the text', (t) => {
  t.equal(composePattern('shop'), '*shop*,*SHOP*,*Shop*')
  t.equal(composePattern('a*,\\'), '*a\\*\\,\\\\*,*A\\*\\,\\\\*')
  t.end()
})

void t.test('the actions offered for an object depend on the user’s permissions', (t) => {
  const titles = (rights: typeof all, noun: typeof group | typeof tag = group) =>
    listOfObject({ noun, id: 3, name: 'shop' }, rights).map(({ title, href }) => [title, href])
  t.same(titles(all), [
    ['shop', '/groups/3'],
    ['Deploy shop', '/groups/3/deploy'],
    ['Clear cache of shop', '/invalidations/new?vclGroup=3'],
    ['Graphs of shop', '/graphs?of=vclgroups/3'],
  ])
  t.same(titles({ deploys: false, clears: false, graphs: false }), [['shop', '/groups/3']])
  t.same(titles(all, tag), [
    ['shop', '/tags/3'],
    ['Graphs of shop', '/graphs?of=tags/3'],
  ])
  t.end()
})

void t.test('a result contains all words; results that start with the text come first', (t) => {
  const titles = fc.array(fc.constantFrom('shop', 'Shop eu', 'Deploy shop', 'Tags', 'my shop'))
  fc.assert(
    fc.property(titles, fc.constantFrom('shop', 'SHOP e', 'tag', ''), (found, text) => {
      const commands = found.map((title, at) => ({
        key: String(at),
        title,
        kind: 'Group',
        href: '/',
      }))
      const shown = filterCommands(commands, text).map(({ title }) => title.toLowerCase())
      const words = text.toLowerCase().split(' ')
      const starts = shown.map((title) => title.startsWith(text.toLowerCase()))
      return (
        shown.every((title) => words.every((word) => `${title} group`.includes(word))) &&
        starts.every((isStart, at) => isStart || !starts.slice(at).includes(true))
      )
    }),
  )
  const many = Array.from({ length: 99 }, (_, at) => ({
    key: String(at),
    title: `shop ${at}`,
    kind: 'Group',
    href: '/',
  }))
  t.equal(filterCommands(many, 'shop').length, 30)
  t.equal(filterCommands(many, 'shop 7')[0]?.title, 'shop 7', 'the exact name comes first')
  t.end()
})
