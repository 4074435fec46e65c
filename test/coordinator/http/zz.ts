import { startThings } from './things.js'
const s = await startThings()
console.log(s.base)
const h = { authorization: 'Bearer boss' }
for (const [m, p, b] of [['GET','/things'],['GET','/things/1'],['GET','/things/9'],['GET','/things/'],['GET','/things/%ZZ'],['GET','/things/1/parts/a%2Fb'],['PATCH','/things'],['PROPFIND','/things'],['HEAD','/things'],['OPTIONS','/things'],['POST','/things','{"NAME":"a"}'],['POST','/things','{"NAME":"bug"}'],['POST','/things','{"NAME":"slow down"}'],['PUT','/things/1/go?wait=60s&percent=50&force=true',undefined],['PUT','/things/1/go?wait=x'],['GET','/open'],['GET','/nope']] as const) {
  const r = await fetch(s.base + '/api/v1' + p, { method: m, headers: { ...h, ...(b ? {'content-type':'application/json'} : {}) }, ...(b ? {body: b} : {}) })
  console.log(m, p, r.status, (await r.text()).slice(0, 150), r.headers.get('allow'), r.headers.get('x-trace-id'), r.headers.get('retry-after'))
}
for (const p of ['/', '/api', '/page', '/raw/x%20y', '/api/v1', '/api/v1/', '/api/v1/x']) { const r = await fetch(s.base + p); console.log(p, r.status, (await r.text()).slice(0,150)) }
let t = performance.now(); const r = await fetch(s.base + '/api/v1/things?many=10000', {headers: h}); console.log((await r.json()).length, r.headers.get('x-total-count'), performance.now() - t)
await fetch(s.base + '/api/v1/broken-list', {headers: h}).then(r => r.text()).catch(e => console.log('broken', e.message))
await new Promise(r => setTimeout(r, 50))
console.log(s.lines.length, JSON.stringify(s.lines.at(-1)), JSON.stringify(s.lines.find(l => l.level === 50)))
t = performance.now(); await s.http.close(); console.log('closed', performance.now() - t)
console.log(process.memoryUsage().rss / 1e6)
