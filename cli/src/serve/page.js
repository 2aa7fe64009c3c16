// Sends a picture to kgard on this machine, and shows what comes back.

const at = (id) => document.getElementById(id);
const [form, file, drop, again] = ['form', 'file', 'drop', 'again'].map(at);
const [status, problem, result] = ['status', 'error', 'result'].map(at);

// The picture that is shown, and its name without what tells the format.
let picture = null;
// Ends the request under way when another one follows.
let request = new AbortController();
// Addresses of pictures in memory, until there are others.
let addresses = [];

const address = (blob) => {
  const made = URL.createObjectURL(blob);
  addresses.push(made);
  return made;
};

// The options that were given, as the command line calls them.
function options() {
  const given = new URLSearchParams();
  for (const [name, value] of new FormData(form)) {
    if (typeof value === 'string' && value !== '') given.set(name, value);
  }
  return given;
}

async function clean() {
  if (!picture || !form.reportValidity()) return;
  request.abort();
  request = new AbortController();
  const { signal } = request;
  again.disabled = false;
  problem.hidden = true;
  status.className = 'busy';
  status.textContent = `Cleaning ${picture.name} …`;
  document.body.dataset.state = 'busy';
  try {
    const response = await fetch(`denoise?${options()}`, { method: 'POST', body: picture, signal });
    if (!response.ok) throw new Error((await response.text()).trim());
    await show(await response.formData());
    status.textContent = picture.name;
    document.body.dataset.state = 'done';
  } catch (error) {
    if (signal.aborted) return;
    const unreachable = error instanceof TypeError;
    problem.textContent = unreachable
      ? 'kgard serve does not answer: is it still running?'
      : error.message.replace(/^the file\b/, picture.name);
    problem.hidden = false;
    result.hidden = true;
    status.textContent = '';
    document.body.dataset.state = 'failed';
  }
  status.className = '';
}

async function show(parts) {
  addresses.forEach((old) => URL.revokeObjectURL(old));
  addresses = [];
  const report = JSON.parse(await parts.get('report').text());
  const shown = {
    before: parts.get('before'),
    after: parts.get('shown') ?? parts.get('clean'),
    outliers: parts.get('outliers'),
  };
  for (const [id, blob] of Object.entries(shown)) {
    at(id).src = address(blob);
    // Pixels of a small picture are better seen than smeared.
    at(id).classList.toggle('small', Math.max(report.width, report.height) < 256);
  }
  await Promise.all(Object.keys(shown).map((id) => at(id).decode()));
  const number = (value, digits) => value.toLocaleString('en', { maximumFractionDigits: digits });
  const { outliers, noise_sigma: noise, seconds } = report;
  at('impulses').textContent = `${number(outliers.count, 0)} (${number(100 * outliers.fraction, 1)} %)`;
  at('noise').textContent = noise < 1 ? noise.toPrecision(3) : number(noise, 2);
  at('time').textContent = `${number(seconds.total, 2)} s`;
  const colour = report.channels < 3 ? 'grey' : 'colour';
  at('kind').textContent = `${report.width} × ${report.height}, ${report.bit_depth}-bit ${colour}`;
  const download = at('download');
  download.href = address(parts.get('clean'));
  download.download = `${picture.name.replace(/\.[^.]*$/, '')}-${parts.get('clean').name}`;
  result.hidden = false;
}

function take(files) {
  if (files.length === 0) return;
  picture = files[0];
  clean();
}

file.addEventListener('change', () => take(file.files));
// A label gives its input the focus, but does not open it on Enter.
file.addEventListener('keydown', (event) => {
  if (event.key !== 'Enter') return;
  event.preventDefault();
  file.click();
});
form.addEventListener('submit', (event) => {
  event.preventDefault();
  clean();
});
form.querySelector('select').addEventListener('change', clean);

// Anywhere on the page, so that a picture beside the field is not opened.
addEventListener('dragover', (event) => {
  event.preventDefault();
  drop.classList.add('over');
});
addEventListener('dragleave', () => drop.classList.remove('over'));
addEventListener('drop', (event) => {
  event.preventDefault();
  drop.classList.remove('over');
  take(event.dataTransfer.files);
});
addEventListener('paste', (event) => take(event.clipboardData.files));

at('position').addEventListener('input', (event) => {
  at('slider').style.setProperty('--at', `${event.target.value}%`);
});
