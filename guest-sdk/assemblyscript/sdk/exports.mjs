// For `asc --transform`: the names that the interface has for the exports of exports.ts. AssemblyScript has none with a colon.

const NAMES = {
  describe: 'tacklebox:hooks/callback@0.1.0#describe',
  run: 'tacklebox:hooks/callback@0.1.0#run',
  after_run: 'cabi_post_tacklebox:hooks/callback@0.1.0#run',
};

export default class {
  afterCompile(module) {
    for (const [ours, name] of Object.entries(NAMES)) {
      const { value } = this.binaryen.getExportInfo(module.getExport(ours));
      module.removeExport(ours);
      module.addFunctionExport(value, name);
    }
  }
}
