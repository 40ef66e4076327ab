import { launcherContract } from './contract.ts'

await launcherContract('the Node launcher', { kind: 'node' })
for (const containment of ['pidns', 'cgroup', 'group'] as const) {
  await launcherContract(`the native launcher at level ${containment}`, {
    kind: 'native',
    containment,
  })
}
