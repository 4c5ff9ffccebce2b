provider shop { };
