// Builds the Firefox Profiler's command-line tool from a checkout of it:
//
//   node profiler-edit.mjs OUT    # in the checkout, beside its node_modules
//
// The packages below draw views and read other profile formats. They are not
// used here, and some registries lack them.
import { createRequire } from 'node:module';
import path from 'node:path';

const require = createRequire(path.resolve('package.json'));
const esbuild = require('esbuild');
const { wasmLoader } = require('esbuild-plugin-wasm');

const unused = {
  name: 'unused',
  setup(build) {
    build.onResolve({ filter: /^(json-slabs|devtools-reps|iongraph-web)(\/|$)/ }, (args) => ({ path: args.path, namespace: 'unused' }));
    build.onLoad({ filter: /./, namespace: 'unused' }, () => ({ contents: 'exports.isJsonSlabsFile = () => false;' }));
  },
};

await esbuild.build({
  entryPoints: ['src/node-tools/profiler-edit.ts'],
  outfile: process.argv[2],
  bundle: true,
  platform: 'node',
  format: 'cjs',
  alias: { 'firefox-profiler': './src', 'firefox-profiler-res': './res' },
  loader: { '.png': 'file', '.jpg': 'file', '.svg': 'dataurl', '.css': 'empty' },
  plugins: [unused, wasmLoader({ mode: 'embedded' })],
  logLevel: 'error',
});
