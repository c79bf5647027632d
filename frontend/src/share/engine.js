// Exact answers in the page: the plan that credo compiled, run for all draws.
//
// Each factor has a cell for every combination of its variables' states, and each cell a number for every draw. A step
// multiplies the factors that meet, and sums one variable out; the way back gives the share of every variable. What is
// known multiplies the step of its variable. Messages are divided by their largest cell, so that nothing underflows.

const MOST_CELLS = 3_000_000; // of all messages and the largest clique, that are kept at a time
const LEVEL = 0.95;
const ROUNDING = 1e-9; // of the largest utility: smaller differences are none
const EDGE = 1e-3; // of the other end, below which a probability cannot be told from 0, or from 1

// Where each cell of a clique is in a factor with some of its variables.
function places(clique, scope, sizes) {
  const strides = new Map();
  let stride = 1;
  for (const each of [...scope].reverse()) {
    strides.set(each, stride);
    stride *= sizes[each];
  }
  const cells = clique.reduce((product, each) => product * sizes[each], 1);
  const found = new Int32Array(cells);
  const state = clique.map(() => 0);
  let place = 0;
  for (let cell = 0; cell < cells; cell += 1) {
    found[cell] = place;
    for (let axis = clique.length - 1; axis >= 0; axis -= 1) {
      const step = strides.get(clique[axis]) ?? 0;
      state[axis] += 1;
      place += step;
      if (state[axis] < sizes[clique[axis]]) break;
      place -= step * state[axis];
      state[axis] = 0;
    }
  }
  return found;
}

// The quantile of sorted numbers, between two of them in proportion.
function quantile(sorted, share) {
  const place = share * (sorted.length - 1);
  const low = Math.floor(place);
  const high = Math.min(low + 1, sorted.length - 1);
  return sorted[low] + (place - low) * (sorted[high] - sorted[low]);
}

// The ends of an interval of sorted probabilities: 0 or 1 where the draws cannot tell them from that.
function interval(sorted) {
  const low = quantile(sorted, (1 - LEVEL) / 2);
  const high = quantile(sorted, (1 + LEVEL) / 2);
  return [low < EDGE * high ? 0 : low, 1 - high < EDGE * (1 - low) ? 1 : high];
}

export class ImpossibleError extends Error {}

export function planEngine({ variables, plan, draws, note }, numbers) {
  const sizes = variables.map((each) => each.states.length);
  const count = plan.factors.length;
  const scopes = [...plan.factors.map((each) => each.scope), ...plan.steps.map((each) => each.message)];
  const cellsOf = (scope) => scope.reduce((product, each) => product * sizes[each], 1);
  const steps = plan.steps.map((step) => ({
    ...step,
    cells: cellsOf(step.clique),
    places: step.factors.map((factor) => places(step.clique, scopes[factor], sizes)),
    target: places(step.clique, step.message, sizes),
    states: step.variable === null ? null : places(step.clique, [step.variable], sizes),
    size: cellsOf(step.message),
  }));
  const kept = steps.reduce((sum, step) => sum + step.size, 0);
  const largest = Math.max(1, ...steps.map((step) => step.cells));
  const chunk = Math.max(1, Math.min(draws, Math.floor(MOST_CELLS / (2 * kept + 2 * largest))));
  const children = variables.map((_, each) => variables.flatMap((other, place) => (other.parents.includes(each) ? [place] : [])));

  // Whether some variable that hangs below this one is observed.
  function hasObservedDescendant(variable, observed, seen = new Set()) {
    return children[variable].some((child) => {
      if (seen.has(child)) return false;
      seen.add(child);
      return observed.has(child) || hasObservedDescendant(child, observed, seen);
    });
  }

  // The row of a CPT that is the answer by itself, with the ends of its intervals where there are draws: all parents are observed, and nothing below.
  function cptRow(variable, observed) {
    const { parents } = variables[variable];
    if (observed.has(variable) || !parents.every((each) => observed.has(each)) || hasObservedDescendant(variable, observed)) return null;
    const row = parents.reduce((place, each) => place * sizes[each] + observed.get(each), 0);
    const rows = parents.reduce((product, each) => product * sizes[each], 1);
    const part = (number) => {
      const start = plan.means[variable] + (number * rows + row) * sizes[variable];
      return numbers.subarray(start, start + sizes[variable]);
    };
    return { means: part(0), low: part(1), high: part(2) };
  }

  // The factors under some draws: those of one cell are neighbours, as in `numbers`.
  function factorsOf(first, size, set) {
    return plan.factors.map((factor) => {
      const cells = cellsOf(factor.scope);
      if (!set.has(factor.variable) && factor.draws > 1 && size === draws) return numbers.subarray(factor.at, factor.at + cells * draws);
      const own = new Float64Array(cells * size);
      const state = set.has(factor.variable) ? places(factor.scope, [factor.variable], sizes) : null;
      for (let cell = 0; cell < cells; cell += 1) {
        const start = factor.at + cell * factor.draws;
        if (state) own.fill(state[cell] === set.get(factor.variable) ? 1 : 0, cell * size, (cell + 1) * size);
        else if (factor.draws === 1) own.fill(numbers[start], cell * size, (cell + 1) * size);
        else own.set(numbers.subarray(start + first, start + first + size), cell * size);
      }
      return own;
    });
  }

  // The share of each state of each variable under some draws, put into `found`: [variable][state * draws + draw].
  function run(first, size, weights, set, found) {
    const arrays = factorsOf(first, size, set);
    const room = new Float64Array(largest * size);
    const most = new Float64Array(size);

    // The product of all factors of a step but one, with what is known and, on the way back, the adjoint of its message.
    const product = (step, left, adjoint) => {
      const end = step.cells * size;
      let isEmpty = true;
      const multiply = (source, where) => {
        for (let cell = 0, to = 0; to < end; cell += 1) {
          let from = where[cell] * size;
          const stop = to + size;
          if (isEmpty) for (; to < stop; to += 1, from += 1) room[to] = source[from];
          else for (; to < stop; to += 1, from += 1) room[to] *= source[from];
        }
        isEmpty = false;
      };
      step.factors.forEach((factor, index) => factor !== left && multiply(arrays[factor], step.places[index]));
      if (adjoint) multiply(adjoint, step.target);
      if (isEmpty) room.fill(1, 0, end);
      const likelihood = step.variable === null ? null : weights[step.variable];
      if (likelihood)
        for (let cell = 0; cell < step.cells; cell += 1) {
          const weight = likelihood[step.states[cell]];
          if (weight === 0) room.fill(0, cell * size, (cell + 1) * size);
          else if (weight !== 1) for (let at = cell * size, stop = at + size; at < stop; at += 1) room[at] *= weight;
        }
    };

    // The product summed over all variables but some.
    const addTo = (target, where, cells, stride = size, shift = 0) => {
      for (let cell = 0, from = 0; cell < cells; cell += 1) {
        let to = where[cell] * stride + shift;
        const stop = from + size;
        for (; from < stop; from += 1, to += 1) target[to] += room[from];
      }
    };

    // Divided by the largest cell of each draw: its scale means nothing.
    const scale = (array) => {
      most.fill(0);
      for (let at = 0; at < array.length; ) for (let draw = 0; draw < size; draw += 1, at += 1) if (array[at] > most[draw]) most[draw] = array[at];
      for (let draw = 0; draw < size; draw += 1) most[draw] = most[draw] > 0 ? 1 / most[draw] : 1;
      for (let at = 0; at < array.length; ) for (let draw = 0; draw < size; draw += 1, at += 1) array[at] *= most[draw];
    };

    for (const step of steps) {
      product(step, -1, null);
      const message = new Float64Array(step.size * size);
      addTo(message, step.target, step.cells);
      scale(message);
      arrays.push(message);
    }
    const back = steps.map(() => null); // nothing comes back to what was summed out completely
    for (let number = steps.length - 1; number >= 0; number -= 1) {
      const step = steps[number];
      if (step.variable !== null) {
        product(step, -1, back[number]);
        addTo(found[step.variable], step.states, step.cells, draws, first);
      }
      step.factors.forEach((factor, index) => {
        if (factor < count || !scopes[factor].length) return;
        product(step, factor, back[number]);
        const target = new Float64Array(cellsOf(scopes[factor]) * size);
        addTo(target, step.places[index], step.cells);
        scale(target);
        back[factor - count] = target;
      });
    }
  }

  // The share of each state of each variable under each draw, and their sums.
  function sharesOf(given) {
    const weights = sizes.map(() => null);
    const [observed, set] = [new Map(), new Map()];
    let isPlain = true;
    for (const [variable, known] of given) {
      if (known.set !== undefined) {
        set.set(variable, known.set);
        isPlain = false;
      } else if (known.state !== undefined) {
        observed.set(variable, known.state);
        weights[variable] = Float64Array.from({ length: sizes[variable] }, (_, state) => (state === known.state ? 1 : 0));
      } else {
        weights[variable] = Float64Array.from(known.weights);
        isPlain = false;
      }
    }
    const found = sizes.map((size) => new Float64Array(size * draws));
    for (let first = 0; first < draws; first += chunk) run(first, Math.min(chunk, draws - first), weights, set, found);
    const totals = found.map((shares, variable) => {
      const sums = new Float64Array(draws);
      for (let state = 0; state < sizes[variable]; state += 1) for (let draw = 0; draw < draws; draw += 1) sums[draw] += shares[state * draws + draw];
      return sums;
    });
    return { found, totals, observed, set, isPlain };
  }

  // The answer: for each variable, [probability, low, high] of each state. `given` has a list for each variable that is
  // known: { state }, { set } or { weights }, by its number.
  function answer(given) {
    const { found, totals, observed, isPlain } = sharesOf(given);
    // Draws under which the case is impossible say nothing about it.
    const possible = [];
    for (let draw = 0; draw < draws; draw += 1) if (totals.every((sums) => sums[draw] > 0)) possible.push(draw);
    if (!possible.length) throw new ImpossibleError();
    return found.map((shares, variable) => {
      const known = isPlain ? cptRow(variable, observed) : null;
      return Array.from({ length: sizes[variable] }, (_, state) => {
        const values = Float64Array.from(possible, (draw) => shares[state * draws + draw] / totals[variable][draw]);
        if (known && !note && draws > 1) return [known.means[state], known.low[state], known.high[state]];
        const mean = known ? known.means[state] : values.reduce((sum, value) => sum + value, 0) / values.length;
        if (note || draws === 1) return [mean, null, null];
        values.sort();
        return [mean, ...interval(values)];
      });
    });
  }

  // P(all of these variables are in one of these states | what is known) under each draw; NaN where that is impossible.
  // Where it is a number of a CPT, it has the mean that the CPT shows, as everywhere in credo.
  function chances(given, event) {
    const chance = new Float64Array(draws).fill(1);
    const soFar = new Map(given);
    let single = null;
    for (const [variable, states] of event) {
      const { found, totals, observed, set } = sharesOf(soFar);
      for (let draw = 0; draw < draws; draw += 1) {
        const sum = states.reduce((all, state) => all + found[variable][state * draws + draw], 0);
        if (chance[draw] !== 0) chance[draw] *= Math.min(1, sum / totals[variable][draw]);
      }
      const known = new Map([...observed, ...set]);
      const isOfCpt = event.length === 1 && (!set.size || (known.size === variables[variable].parents.length && !known.has(variable)));
      const row = isOfCpt ? cptRow(variable, known) : null;
      if (row) single = Math.min(1, states.reduce((all, state) => all + row.means[state], 0));
      soFar.set(variable, { weights: variables[variable].states.map((_, state) => (states.includes(state) ? 1 : 0)) });
    }
    return single === null ? chance : withMean(chance, single);
  }

  return { answer, chances, draws };
}

// Chances under draws, moved in proportion so that they have this mean and stay between 0 and 1.
function withMean(values, mean) {
  const known = values.filter((each) => !Number.isNaN(each));
  const own = known.reduce((sum, each) => sum + each, 0) / known.length;
  if (own === mean || !(own > 0 && own < 1)) return values;
  return values.map((each) => (mean < own ? each * (mean / own) : 1 - (1 - each) * ((1 - mean) / (1 - own))));
}

// The expected utility of every option, the best first, with how sure that is. What is known must not depend on the choice.
export function decided({ options }, engine, given, hasIntervals) {
  const { draws } = engine;
  const kept = new Map();
  const chancesOf = (known, event) => {
    const key = JSON.stringify([[...known], event]);
    if (!kept.has(key)) kept.set(key, engine.chances(known, event));
    return kept.get(key);
  };
  const utilities = options.map((option) => {
    const known = new Map([...given, ...option.set.map(([variable, state]) => [variable, { set: state }])]);
    const total = new Float64Array(draws).fill(option.constant);
    for (const [amount, event] of option.lines) {
      // What is observed already is no event any more, or excludes it.
      const isExcluded = event.some(([variable, states]) => given.get(variable)?.state !== undefined && !states.includes(given.get(variable).state));
      const rest = event.filter(([variable]) => given.get(variable)?.state === undefined);
      if (isExcluded) continue;
      const chance = rest.length ? chancesOf(known, rest) : null;
      for (let draw = 0; draw < draws; draw += 1) total[draw] += amount * (chance ? chance[draw] : 1);
    }
    return total;
  });
  const possible = Array.from({ length: draws }, (_, draw) => draw).filter((draw) => utilities.every((each) => !Number.isNaN(each[draw])));
  const mean = (values) => possible.reduce((sum, draw) => sum + values[draw], 0) / possible.length;
  const ends = (values) => {
    const sorted = Float64Array.from(possible, (draw) => values[draw]).sort();
    return hasIntervals ? [quantile(sorted, (1 - LEVEL) / 2), quantile(sorted, (1 + LEVEL) / 2)] : [null, null];
  };
  const wins = options.map(() => 0);
  for (const draw of possible) {
    const values = utilities.map((each) => each[draw]);
    const best = Math.max(...values) - ROUNDING * Math.max(...values.map(Math.abs));
    const tied = values.flatMap((value, index) => (value >= best ? [index] : []));
    for (const index of tied) wins[index] += 1 / tied.length;
  }
  const found = options.map((option, index) => ({ option: option.text, utility: mean(utilities[index]), ends: ends(utilities[index]), best: hasIntervals ? wins[index] / possible.length : null, index }));
  found.sort((one, other) => other.utility - one.utility || one.index - other.index);
  const gain = utilities[found[0].index].map((value, draw) => value - utilities[found[1].index][draw]);
  return { options: found, gain: mean(gain), gainEnds: ends(gain) };
}

// Where the network is too large, answers were computed beforehand for some inputs.
export function tableEngine({ variables, inputs, targets, note }, numbers) {
  const place = new Map(variables.map((each, index) => [each.name, index]));
  const width = 3 * targets.reduce((sum, name) => sum + variables[place.get(name)].states.length, 0);
  function answer(given) {
    let row = 0;
    for (const name of inputs) {
      const variable = place.get(name);
      row = row * (variables[variable].states.length + 1) + (given.has(variable) ? given.get(variable).state + 1 : 0);
    }
    const own = numbers.subarray(row * width, (row + 1) * width);
    if (Number.isNaN(own[0])) throw new ImpossibleError();
    const found = variables.map(() => null);
    let at = 0;
    for (const name of targets) {
      const variable = place.get(name);
      found[variable] = variables[variable].states.map((_, state) => {
        const [mean, low, high] = own.subarray(at + 3 * state, at + 3 * state + 3);
        return [mean, note || Number.isNaN(low) ? null : low, note || Number.isNaN(high) ? null : high];
      });
      at += 3 * variables[variable].states.length;
    }
    return found;
  }
  return { answer };
}
